package baseline_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/google/go-cmp/cmp"
)

func TestLint(t *testing.T) {
	path := filepath.Join("some", "baseline-linux-cuda.json")
	clean, _ := update(t, nil, newRun(
		result("a", bench.Passed, sample("decode_tps", 99, 100), sample("prefill_tps", 2000), sample("loss", 0)),
		result("b", bench.Passed, sample("decode_tps", 50)),
	), baseline.UpdateOptions{Now: monday})
	text := marshal(t, clean)

	check := func(now time.Time, path, data string, want ...string) {
		t.Helper()
		var got []string
		for _, p := range baseline.Lint(path, parse(t, data), now, 0) {
			short, _, _ := strings.Cut(p.Message, ": ")
			got = append(got, fmt.Sprintf("%s line %d %s| %s", p.Severity, p.Line, p.CaseID, short))
			if !strings.Contains(p.Message, ": ") && !strings.Contains(p.Message, "host label") {
				t.Errorf("no next step in %q", p.Message)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Lint (-want +got):\n%s\n%s", diff, data)
		}
	}
	replaced := func(old, new string) string {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("%q is not in\n%s", old, text)
		}
		return strings.Replace(text, old, new, 1)
	}

	check(tuesday, path, text)
	check(monday, path, text)
	check(monday.AddDate(0, 0, 90), path, text)

	// The file.
	check(monday.Add(-time.Second), path, text, "warning line 0 | captured_at is in the future")
	check(monday.AddDate(0, 0, 91), path, text, "warning line 0 | captured 91 days ago")
	check(tuesday, "baseline-h.json", text, `error line 0 | host_label is "linux-cuda" but the file is named "baseline-h.json"`)
	check(tuesday, path, replaced(`"host_label": "linux-cuda"`, `"host_label": "a b"`), `error line 0 | host label "a b" cannot name a file and a branch (lower-case letters, digits, ".", "_", "-"; at most 63)`)
	check(tuesday, path, "{}\n",
		`error line 0 | host label "" cannot name a file and a branch (lower-case letters, digits, ".", "_", "-"; at most 63)`,
		"error line 0 | there is no fingerprint, so no speed can be judged",
		"warning line 0 | captured_at is missing",
		"warning line 1 | not in the form that accelgate writes, from this line on")

	// The form.
	check(tuesday, path, strings.TrimSuffix(text, "\n"), "warning line 0 | there is no newline at the end of the file")
	check(tuesday, path, text+"\n", "warning line 18 | not in the form that accelgate writes, from this line on")
	check(tuesday, path, replaced(`"mad": 0.5`, `"mad": 0.50`), "warning line 14 | not in the form that accelgate writes, from this line on")
	check(tuesday, path, replaced(`"case_id": "a"`, `"case_id": "c"`), "warning line 15 b| entries are not sorted by case_id from here on")

	// The entries.
	check(tuesday, path, replaced(`"ok": true`, `"ok": false`), "warning line 14 a| ok is false, so this cell is not judged")
	check(tuesday, path, replaced(`"n": 2`, `"n": 0`), `error line 14 a| "decode_tps"`)
	check(tuesday, path, replaced(`"mad": 0.5`, `"mad": 200`), `warning line 14 a| "decode_tps"`)
	check(tuesday, path, replaced(`"decode_tps": 50`, `"decode_tps": 51`), `error line 15 b| "decode_tps" is 51 in the entry itself and 50 in metrics`)
	check(tuesday, path, replaced(` "decode_tps": 50,`, ""), `error line 15 b| "decode_tps" is 50 in metrics and missing in the entry itself`)
	check(tuesday, path, replaced(`"decode_tps": 50,`, `"decode_tps": 50, "model_load_ms": 7,`), `error line 15 b| "model_load_ms" is 7 in the entry itself and missing in metrics`)
	check(tuesday, path, replaced(`{"median": 50,`, `{"median": 0,`), `error line 15 b| "decode_tps"`, `error line 15 b| "decode_tps" is 50 in the entry itself and 0 in metrics`)
	check(tuesday, path, replaced("\"n\": 1}}}\n", "\"n\": 1, \"better\": \"higher\"}}}\n"), `error line 15 b| "decode_tps"`)

	// Files of TensorSharp lack what accelgate needs, and are fine otherwise.
	check(tuesday, "baseline-macos-mlx.json", handWritten,
		"error line 0 | there is no fingerprint, so no speed can be judged",
		"warning line 1 | not in the form that accelgate writes, from this line on")
	check(monday, path, `{"host_label": "linux-cuda", "captured_at": "2026-03-02T09:00:00Z", "fingerprint": {}, "entries": [{"case_id": "a", "ok": true, "prefill_tps": 0}]}`,
		"warning line 1 | not in the form that accelgate writes, from this line on",
		"warning line 1 a| neither correctness nor a metric is recorded")
}

// TestLintOfAMadeFile: there is no form to judge, and nothing else differs.
func TestLintOfAMadeFile(t *testing.T) {
	f, _ := update(t, nil, newRun(result("a", bench.Passed, sample("decode_tps", 1))), baseline.UpdateOptions{Now: monday})
	if got := baseline.Lint("baseline-linux-cuda.json", f, monday, 0); len(got) > 0 {
		t.Errorf("Lint = %+v, want nothing", got)
	}
	kept, _ := baseline.Prune(parse(t, handWritten), func(string) bool { return true })
	for _, p := range baseline.Lint("baseline-macos-mlx.json", kept, monday, 0) {
		if strings.Contains(p.Message, "form") {
			t.Errorf("Lint judges the form of a file that is not on disk: %+v", p)
		}
	}
}

func TestProblemFormat(t *testing.T) {
	p := baseline.Problem{Line: 12, CaseID: "tiny__cpu", Severity: baseline.SeverityError, Message: "n is 0: measure it"}
	for _, c := range []struct {
		path, want string
		problem    baseline.Problem
	}{
		{"perf/baseline-h.json", `perf/baseline-h.json:12: error: "tiny__cpu": n is 0: measure it`, p},
		{`C:\perf\Größe 1.json`, `C:\perf\Größe 1.json:12: error: "tiny__cpu": n is 0: measure it`, p},
		{"b.json", "b.json: warning: old: refresh it", baseline.Problem{Severity: baseline.SeverityWarning, Message: "old: refresh it"}},
		{"::error::x", `"::error::x":12: error: "tiny__cpu": n is 0: measure it`, p},
		{" ::error::x", `" ::error::x":12: error: "tiny__cpu": n is 0: measure it`, p},
		{"a\n::error::x", `"a\n::error::x":12: error: "tiny__cpu": n is 0: measure it`, p},
		{"##[error]x", `"##\x5berror]x":12: error: "tiny__cpu": n is 0: measure it`, p},
		{"\xff", `"\xff":12: error: "tiny__cpu": n is 0: measure it`, p},
	} {
		if got := c.problem.Format(c.path); got != c.want {
			t.Errorf("Format(%q) = %s\nwant %s", c.path, got, c.want)
		}
	}
}

// hostile holds what a terminal or the runner of GitHub Actions would obey: a
// new line with a command, a command within a line, an escape sequence, its C1
// form, an override of the direction of text, and a character without width.
const hostile = "x\n::error::y\r\n##[add-mask]z\x1b[31m\u009b31m\u202e\u2066\u200b\ufeff\x00"

// harmless reports whether s is one printable line that is no command.
func harmless(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) && !strings.HasPrefix(strings.TrimSpace(s), "::") && !strings.Contains(s, "##[")
}

// TestMessagesAreHarmless puts hostile text wherever a file, a run or a path
// can hold some.
func TestMessagesAreHarmless(t *testing.T) {
	checked := 0
	check := func(messages ...string) {
		t.Helper()
		for _, m := range messages {
			if checked++; !harmless(m) {
				t.Errorf("%q", m)
			}
			if strings.Contains(m, "%!") {
				t.Errorf("verb and value differ: %q", m)
			}
		}
	}
	bad := metric(hostile, hostile, "", -1, 2, 0)
	other := metric(hostile, "", "", 1, 2, 1)
	f := &baseline.File{HostLabel: hostile, Entries: []baseline.Entry{
		{CaseID: hostile, CorrectnessOK: new(false), DecodeTPS: new(1.0), Metrics: []baseline.Metric{bad}},
		{CaseID: "::error::" + hostile, Metrics: []baseline.Metric{other}},
		{CaseID: "##[error]", OK: true},
	}}
	for _, f := range []*baseline.File{f, parse(t, marshal(t, f)), {HostLabel: "h"}} {
		for _, p := range baseline.Lint(hostile, f, monday, 0) {
			check(p.Message, p.Format(hostile), p.Format("b.json"))
		}
		check(f.Run().Warnings...)
	}
	quoted, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{
		`{"entries": [{"case_id": $, "ok": true, "metrics": {$: {"median": 1}}}]}`,
		`{"entries": [{"case_id": $, "ok": true, "metrics": {$: {"median": 1, "better": "lower"}}}, {"case_id": "b", "ok": false, "metrics": {$: {"median": 1}}}]}`,
		`{"captured_at": $}`, `{$: 1, $: 2}`, `{"fingerprint": {$: }}`, `{"schema": $}`, `{"entries": [{"case_id": $}, {"case_id": $}]}`,
		`{"entries": [{"case_id": "a", "metrics": {$: {}}}]}`, `{"entries": [{"case_id": "a", "metrics": {$: 1}}]}`,
		`{"entries": [{"case_id": "a", "metrics": {"m": {"median": $, "better": $}}}]}`,
		`{"entries": [{"case_id": "a", "anchor": {"metrics": {$: $}}}]}`, `{"entries": [{"case_id": "a", "anchor": {"metrics": {$: 1e99}}}]}`,
		"\u202e", "\xff", "", "{\x1b", `{"schema": 9}`,
	} {
		_, err := baseline.Parse(hostile, []byte(strings.ReplaceAll(data, "$", string(quoted))))
		if err == nil {
			t.Errorf("%s is accepted", data)
			continue
		}
		check(strings.Split(err.Error(), "\n")...)
	}
	for _, change := range []func(*bench.Run){
		func(r *bench.Run) { r.Host.Label = hostile },
		func(r *bench.Run) { r.Host.Label = "h" },
		func(r *bench.Run) { r.Host.Accelerators = []bench.Accelerator{{Model: hostile}} },
		func(r *bench.Run) { r.Results[1] = r.Results[0] },
		func(r *bench.Run) { r.Results[0].Samples = []bench.Sample{sample(hostile, 1)} },
		func(r *bench.Run) { r.Results[0].Samples[0].Values[0] = math.NaN() },
		func(r *bench.Run) { r.Results[0].Samples = append(r.Results[0].Samples, r.Results[0].Samples[0]) },
	} {
		run := newRun(result(hostile, bench.Passed, sample("decode_tps", 1)), result(hostile+"2", bench.Passed))
		run.Host.Fingerprint = h200
		change(run)
		old := &baseline.File{HostLabel: run.Host.Label, Fingerprint: &h100, Entries: []baseline.Entry{{CaseID: hostile + "3"}}}
		if run.Host.Label == "h" {
			old.HostLabel = hostile
		}
		if _, _, err := baseline.Update(old, run, baseline.UpdateOptions{Now: monday}); err == nil {
			t.Errorf("%+v is accepted", run)
		} else {
			check(strings.Split(err.Error(), "\n")...)
		}
	}
	if checked < 50 {
		t.Errorf("only %d messages were checked", checked)
	}
}

func TestExampleIsClean(t *testing.T) {
	path := filepath.Join("testdata", "baseline-linux-cuda.json")
	f, err := baseline.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []baseline.Problem{{
		Line: 1 + strings.Count(string(data[:strings.Index(string(data), `{"case_id": "tiny__vulkan`)]), "\n"), CaseID: "tiny__vulkan__tg128__baseline",
		Severity: baseline.SeverityWarning, Message: "ok is false, so this cell is not judged: repair it and run accelgate baseline update, or prune it",
	}}
	if diff := cmp.Diff(want, baseline.Lint(path, f, f.CapturedAt, 0)); diff != "" {
		t.Errorf("Lint (-want +got):\n%s", diff)
	}
}
