package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/report"
)

// single is the terminal report of one host with the verdicts.
func single(t *testing.T, typed report.Commands, verdicts ...gate.Verdict) string {
	t.Helper()
	c := gate.Comparison{Measured: len(verdicts), Passed: len(verdicts), Verdicts: verdicts}
	in := report.Input{Hosts: []report.HostInput{{Run: &bench.Run{}, Reference: &bench.Run{}, Comparison: c, Commands: typed}}}
	in.Policy = gate.DefaultPolicy()
	in.Decision = gate.Decide([]gate.Comparison{c}, in.Policy)
	return render(t, report.Terminal, report.New(in))
}

func TestNextSaysWhatToType(t *testing.T) {
	own := report.Commands{Run: "go run . run", Update: "go run . update", Prune: "go run . prune", Refresh: "go run . refresh"}
	slower := judgedCell("it's__slow", gate.Regressed)
	gone := whole("gone", gate.Missing)
	long := judgedCell(strings.Repeat("x", 500), gate.Regressed)
	metric := gate.Verdict{Cell: "m", Metric: "tps", Finding: gate.Missing, Blocks: true, Old: 5}
	of := func(reference string, v gate.Verdict) gate.Verdict {
		v.Reference = reference
		return v
	}
	allowed := func(v gate.Verdict) gate.Verdict {
		return excused(v, gate.Excuse{Kind: gate.RuleExcuse, Source: "cases.drift: warn"})
	}
	equal := judgedCell("e", gate.Regressed)
	equal.Finding, equal.Evidence.Method, equal.Reason = gate.Incorrect, "exact", "must equal 1"
	unequal := equal
	unequal.Finding, unequal.Reference = gate.Incorrect, "baselines/baseline-desk.json"
	const refresh = `accelgate cases refresh --only 'c' --reason "why they are accepted" --force`
	const drift = "Drift is measured from the initial time, which only --initial-times renews."
	for _, c := range []struct {
		name     string
		typed    report.Commands
		verdicts []gate.Verdict
		want     []string // in the text, or not where it begins with "!"
	}{
		{"slower", report.Commands{}, []gate.Verdict{slower}, []string{
			`accelgate run --only 'it'\''s__slow'`, "(records only the cells that passed): accelgate baseline update --reason \"why they are accepted\" --force\n", "!prune"}},
		{"own commands", own, []gate.Verdict{slower, gone}, []string{
			`go run . run --only 'it'\''s__slow'`, "go run . update --reason", "go run . prune"}},
		{"gone", report.Commands{}, []gate.Verdict{gone}, []string{"Reproduce: accelgate run\n", "accelgate baseline prune", "!baseline update"}},
		{"lost metric", report.Commands{}, []gate.Verdict{metric}, []string{"--only 'm'", "baseline update"}},
		{"too long to type", report.Commands{}, []gate.Verdict{long}, []string{"Reproduce: accelgate run\n", "!--only"}},
		{"wrong", report.Commands{}, []gate.Verdict{whole("w", gate.Incorrect)}, []string{
			"--only 'w'", "cannot be accepted", "!baseline update"}},
		{"slower than a case file", report.Commands{}, []gate.Verdict{of("baseline", judgedCell("c", gate.Regressed))}, []string{
			"--only 'c' --repeats 5", refresh, "100 → 80 vs baseline", "!baseline update"}},
		{"slower than both", report.Commands{}, []gate.Verdict{of("baseline", judgedCell("c", gate.Regressed)), slower}, []string{
			refresh, "accelgate baseline update", "100 → 80 vs baseline"}},
		{"drifted", own, []gate.Verdict{of("initial", judgedCell("c", gate.Drifted))}, []string{
			"go run . run --only 'c'", drift, "go run . refresh --initial-times --only 'c' --reason \"why they are accepted\" --force\n", "drifted, -20.0 %",
			"100 → 80 vs initial", "!go run . update", "!refresh --only"}},
		{"slower and drifted", report.Commands{}, []gate.Verdict{of("baseline", judgedCell("c", gate.Regressed)), of("initial", judgedCell("c", gate.Drifted))},
			[]string{drift, "accelgate cases refresh --initial-times --only 'c'", "!refresh --only"}},
		{"slower, and drift is only shown", report.Commands{}, []gate.Verdict{of("baseline", judgedCell("c", gate.Regressed)), allowed(of("initial", judgedCell("c", gate.Drifted)))},
			[]string{refresh, "!--initial-times"}},
		{"slower than the only time, the initial one", report.Commands{}, []gate.Verdict{of("initial", judgedCell("c", gate.Regressed))},
			[]string{drift, "accelgate cases refresh --initial-times --only 'c'"}},
		{"one drifted, one slower", report.Commands{}, []gate.Verdict{of("initial", judgedCell("d", gate.Drifted)), of("baseline", judgedCell("c", gate.Regressed))},
			[]string{refresh, drift, "accelgate cases refresh --initial-times --only 'd'"}},
		{"drifted, not blocking", report.Commands{}, []gate.Verdict{allowed(of("initial", judgedCell("c", gate.Drifted)))}, []string{
			"== Excused", "100 → 80 vs initial", "-20.0 % (worse)", "by cases.drift: warn", "!== Next"}},
		{"other operators", report.Commands{}, []gate.Verdict{of("baseline", whole("c", gate.PartsDiffer))}, []string{
			"operators differ", "1 verdict = 1 operators differ\n", refresh, "!baseline update"}},
		{"other operators than initially", report.Commands{}, []gate.Verdict{of("initial", whole("c", gate.PartsDiffer))}, []string{
			refresh, "!--initial-times"}},
		{"too fast", report.Commands{}, []gate.Verdict{of("baseline", judgedCell("c", gate.Unrecorded))}, []string{
			"faster than allowed, -20.0 %", refresh, "!baseline update"}},
		{"not equal", report.Commands{}, []gate.Verdict{of("baseline", equal)}, []string{
			"not equal", "cases refresh --only 'e'", "!cannot be accepted"}},
		{"not equal to the host's baseline", report.Commands{}, []gate.Verdict{unequal}, []string{
			"FAIL: 1 of 1 cell differs in a metric that must be equal\n", "1 verdict = 1 not equal\n", "not equal ", "(records only the cells that passed): accelgate baseline update --reason",
			"--force\n", "!rong answers", "!cannot be accepted", "!cases refresh", "1 of 1 row that needs action is shown"}},
		{"not equal and wrong", report.Commands{}, []gate.Verdict{unequal, whole("w", gate.Incorrect)}, []string{
			"FAIL: 1 of 2 cells differs in a metric that must be equal and 1 gives a wrong answer\n", "2 verdicts = 1 not equal + 1 wrong\n",
			"baseline update", "cannot be accepted"}},
		{"fine", report.Commands{}, []gate.Verdict{judgedCell("f", gate.Unchanged)}, []string{"!== Next"}},
	} {
		text := single(t, c.typed, c.verdicts...)
		for _, want := range c.want {
			unwanted, not := strings.CutPrefix(want, "!")
			if strings.Contains(text, unwanted) == not {
				t.Errorf("%s: want %q in\n%s", c.name, want, text)
			}
		}
	}
}

// TestAdviceCanBeFollowed checks the advice to a host without a baseline: a
// red run is recorded only by force, and one in which nothing passed never.
func TestAdviceCanBeFollowed(t *testing.T) {
	passes := bench.Result{Cell: bench.Cell{Raw: "p"}, Outcome: bench.Passed}
	crashes := bench.Result{Cell: bench.Cell{Raw: "c"}, Outcome: bench.Failed}
	for _, c := range []struct {
		results []bench.Result
		want    string // the command, if any
	}{
		{[]bench.Result{passes}, "accelgate baseline update --reason \"first baseline\"\n"},
		{[]bench.Result{passes, crashes}, "accelgate baseline update --reason \"first baseline\" --force\n"},
		{[]bench.Result{crashes}, ""},
	} {
		r := report.New(judged(report.Input{}, report.HostInput{Run: &bench.Run{Results: c.results}}))
		text := render(t, report.Terminal, r)
		if !strings.Contains(text, c.want) || c.want == "" && strings.Contains(text, "baseline update") {
			t.Errorf("want %q in\n%s", c.want, text)
		}
	}
}

// TestFooterFollowsTheDecision: only a run that passed needs no action.
func TestFooterFollowsTheDecision(t *testing.T) {
	for _, name := range names(t) {
		in := load(t, name).input()
		text := render(t, report.Terminal, report.New(in))
		if got, want := strings.Contains(text, "nothing needs action"), in.Decision.Status == gate.StatusPassed; got != want {
			t.Errorf("%s is %s; says that nothing needs action: %t", name, in.Decision.Status, got)
		}
	}
}

func TestWarningsOfBothSidesAreShown(t *testing.T) {
	run := &bench.Run{Host: bench.Host{Label: "rig"}, Warnings: []string{"hot now"}}
	old := &bench.Run{Host: run.Host, Warnings: []string{"hot then"}}
	r := report.New(judged(report.Input{}, report.HostInput{Run: run, Reference: old}))
	for name, f := range map[string]report.Renderer{"Markdown": report.Markdown, "Terminal": report.Terminal, "JSON": report.JSON} {
		text := render(t, f, r)
		if !strings.Contains(text, "hot now") || !strings.Contains(text, "hot then") {
			t.Errorf("%s lacks a warning:\n%s", name, text)
		}
	}
}

func TestOrderOfRows(t *testing.T) {
	at := func(cell string, found gate.Finding, delta float64) gate.Verdict {
		v := judgedCell(cell, found)
		v.Delta = delta
		return v
	}
	check := func(title string, want []string, verdicts ...gate.Verdict) {
		t.Helper()
		text := single(t, report.Commands{}, verdicts...)
		_, section, _ := strings.Cut(text, title)
		section, _, _ = strings.Cut(section, "\n== ")
		var got []string
		for line := range strings.Lines(section) {
			if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[0], "cell-") {
				got = append(got, f[0])
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", title, got, want)
		}
	}
	newlySkipped := whole("cell-s", gate.Missing)
	newlySkipped.Outcome = bench.Skipped
	check("== Needs action", []string{"cell-w", "cell-r", "cell-s", "cell-m", "cell-a", "cell-b", "cell-c"},
		at("cell-c", gate.Regressed, -12), at("cell-b", gate.Regressed, -30), newlySkipped,
		whole("cell-m", gate.Missing), whole("cell-r", gate.Crashed),
		at("cell-a", gate.Regressed, -30), whole("cell-w", gate.Incorrect))
	check(" improved or fixed", []string{"cell-b", "cell-a", "cell-f"},
		at("cell-a", gate.Improved, 12), whole("cell-f", gate.Fixed), at("cell-b", gate.Improved, 40))
	check(" speeds", []string{"cell-b", "cell-a"},
		at("cell-a", gate.Unchanged, 2), at("cell-b", gate.Unchanged, -3))
}

// TestAdviceToAReplay: what was replayed has no baseline file, but case files.
func TestAdviceToAReplay(t *testing.T) {
	run := &bench.Run{Host: bench.Host{Label: "replay"}}
	c := gate.Comparison{Measured: 2, Passed: 2, Unjudged: "there is no baseline for this host", Verdicts: []gate.Verdict{whole("b", gate.Untracked)},
		Checks: []compat.Check{{Cell: "a", Status: compat.CheckPass}, {Cell: "b", Status: compat.CheckNoBaseline}}}
	in := report.Input{Hosts: []report.HostInput{{Run: run, Comparison: c}}, Policy: gate.DefaultPolicy()}
	in.Decision = gate.Decide([]gate.Comparison{c}, in.Policy)
	text := render(t, report.Terminal, report.New(in))
	if want := "| accelgate cases refresh --only 'b' --reason \"first times\"\n"; !strings.Contains(text, want) || strings.Contains(text, "baseline update") {
		t.Errorf("want %q in\n%s", want, text)
	}
}
