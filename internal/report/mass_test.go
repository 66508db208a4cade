package report_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
)

// grid is a host with a cell for each model, backend and feature; change edits the
// run's results, and drops those for which it returns false.
func grid(models, features int, change func(res *bench.Result) bool) report.HostInput {
	machine := bench.Fingerprint{OS: "linux", Arch: "amd64", CPU: "test", Cores: 2}
	metrics := []bench.Metric{{Name: "decode_tps", Unit: "tok/s", Better: bench.Higher}}
	now := &bench.Run{Metrics: metrics, Host: bench.Host{Label: "linux-cuda", Fingerprint: machine}}
	old := &bench.Run{Metrics: metrics, Host: now.Host}
	for m := range models {
		for _, backend := range []string{"cuda", "vulkan"} {
			for f := range features {
				c := bench.Cell{Suite: "engine", Params: []bench.Param{{Key: "model", Value: fmt.Sprintf("m%d", m+1)}, {Key: "backend", Value: backend},
					{Key: "feature", Value: fmt.Sprintf("f%02d", f+1)}, {Key: "env", Value: "baseline"}}}
				old.Results = append(old.Results, bench.Result{Cell: bench.Cell{Raw: c.ID()}, Outcome: bench.Passed, Samples: []bench.Sample{
					{Metric: "decode_tps", Summary: &bench.Summary{Median: 100, MAD: 0.2, N: 5}}}})
				res := bench.Result{Cell: c, Outcome: bench.Passed, Samples: []bench.Sample{{Metric: "decode_tps", Values: []float64{100, 100.2, 99.8}}}}
				if change(&res) {
					now.Results = append(now.Results, res)
				}
			}
		}
	}
	return report.HostInput{Run: now, Reference: old, Path: "baselines/baseline-linux-cuda.json"}
}

func crash(res *bench.Result, log string) bool {
	res.Outcome, res.Cause, res.Reason, res.Log, res.Samples = bench.Failed, bench.CauseExit, "exit code 1", log, nil
	return true
}

// TestRegressionsShowBesideAMass has 40 missing cells of one feature, 12 crashes of
// one cause, a crash of another and 3 regressions.
func TestRegressionsShowBesideAMass(t *testing.T) {
	i := 0
	h := grid(20, 12, func(res *bench.Result) bool {
		i++
		feature, model := res.Cell.Get("feature"), res.Cell.Get("model")
		switch {
		case feature == "f10":
			return false
		case feature == "f03" && res.Cell.Get("backend") == "vulkan" && model < "m20":
			return crash(res, fmt.Sprintf("loading\nggml_vulkan: cannot allocate %d bytes at 0x7ffe%04x\n[New LWP 77]\nexit status 1\n", 4096*i, i))
		case feature == "f05" && model == "m2":
			return crash(res, "Traceback (most recent call last):\n  File \"run.py\", line 3, in <module>\n    main()\nRuntimeError: no kernel image for sm_90\n")
		case feature == "f07" && model == "m7" || model == "m8" && feature == "f08" && res.Cell.Get("backend") == "cuda":
			res.Samples[0].Values = []float64{80, 80.2, 79.9}
		}
		return true
	})
	text := render(t, report.Markdown, report.New(judged(report.Input{Tool: "accelgate v0.1.0"}, h)))
	golden(t, filepath.Join("testdata", "mass.md"), text)
	skeleton(t, text)
	if slow, mass := strings.Index(text, "m8__cuda__f08"), strings.Index(text, "40 cells missing"); slow < 0 || mass < 0 || slow > mass {
		t.Errorf("a regression is at %d, the missing cells at %d", slow, mass)
	}
	if n := strings.Count(text, "accelgate run --only"); n != 1 {
		t.Errorf("%d commands reproduce a cell, want 1", n)
	}
}

var (
	rowsMore   = regexp.MustCompile(`(\d+) more `)
	sharedLine = regexp.MustCompile(`(?m)^- (?:\*\*)?(\d+) (?:cells|more of)`)
)

// shownVerdicts adds up the rows, the rest and the shared causes of the part that needs
// action.
func shownVerdicts(text string) (n int) {
	_, action, _ := strings.Cut(text, "#### Needs action")
	action, _, _ = strings.Cut(action, "\n#### ")
	for line := range strings.Lines(action) {
		switch {
		case strings.HasPrefix(line, "|"):
			n++
		case strings.HasPrefix(line, "… and "):
			for _, m := range rowsMore.FindAllStringSubmatch(line, -1) {
				more, _ := strconv.Atoi(m[1])
				n += more
			}
		}
	}
	for _, m := range sharedLine.FindAllStringSubmatch(action, -1) {
		more, _ := strconv.Atoi(m[1])
		n += more
	}
	if strings.Contains(action, "|") {
		n -= 2 // the head of the table
	}
	return n
}

// TestEveryBlockingVerdictIsCounted holds for random mixes of 2,000 cells with hostile
// names and logs: all blocking verdicts are counted where action is needed, ten rows
// of a class at most, and the comment keeps to its limit.
func TestEveryBlockingVerdictIsCounted(t *testing.T) {
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 21))
		evil := hostile[random.IntN(len(hostile))]
		h := grid(40, 25, func(res *bench.Result) bool {
			if seed%2 == 1 {
				res.Cell = bench.Cell{Raw: res.Cell.ID() + evil + strings.Repeat("x", random.IntN(300))}
			}
			switch random.IntN(6) {
			case 0:
				return res.Cell.Get("feature") > "f12"
			case 1:
				return crash(res, strings.Repeat("error "+evil, random.IntN(3)))
			case 2:
				res.Outcome, res.Reason = bench.Incorrect, hostile[random.IntN(len(hostile))]
			case 3:
				res.Samples[0].Values = []float64{50 + 50*random.Float64()}
			case 4:
				res.Outcome, res.Reason = bench.Skipped, evil
			}
			return true
		})
		in := judged(report.Input{Tool: "accelgate v0.1.0"}, h)
		want := 0
		for _, n := range in.Decision.Blocking {
			want += n
		}
		text := render(t, report.Markdown, report.New(in))
		if len(text) > report.MarkdownBytes {
			t.Errorf("seed %d: %d bytes, limit %d", seed, len(text), report.MarkdownBytes)
		}
		if got := shownVerdicts(text); got != want || want < 100 {
			t.Errorf("seed %d: %d blocking verdicts are shown or counted, want %d", seed, got, want)
		}
		for _, word := range []string{"**wrong**", "**missing**", "**exited with an error**", "**newly skipped**"} {
			if n := strings.Count(text, "| "+word+" |"); n > 10 {
				t.Errorf("seed %d: %d rows are %s, want at most 10", seed, n, word)
			}
		}
		skeleton(t, text)
	}
}

// TestCrashIsItsLogLine names a crash by the line of its log that says why.
func TestCrashIsItsLogLine(t *testing.T) {
	for _, c := range []struct{ log, want string }{
		{"Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\nValueError: shapes differ\n", "ValueError: shapes differ (exit code 1)"},
		{"start\npanic: index out of range [3]\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:5 +0x1d\nexit status 2\n", "panic: index out of range [3] (exit code 1)"},
		{"thread 'main' panicked at src/main.rs:2:5:\nno device\nnote: run with `RUST_BACKTRACE=1`\n", "thread 'main' panicked at src/main.rs:2:5: (exit code 1)"},
		{"terminate called after throwing an instance of 'E'\n  what():  CUDA error 700\nmake: *** [all] Error 1\n", "what():  CUDA error 700 (exit code 1)"},
		{"\x1b[31mfatal: no weights\x1b[0m\r\n-----\n\n100%\n", "fatal: no weights (exit code 1)"},
		{"loading\nready\n***\n", "ready (exit code 1)"},
		{"::error::x\n", "<U+003A>:error::x (exit code 1)"},
		{"\n \n", "exit code 1"},
		{"", "exit code 1"},
	} {
		h := grid(1, 1, func(res *bench.Result) bool { return crash(res, c.log) })
		r := report.New(judged(report.Input{}, h))
		if got := r.Findings(9)[0].Message; got != "exited with an error: "+c.want {
			t.Errorf("log %q\ngot  %q\nwant %q", c.log, got, c.want)
		}
		checkPlain(t, render(t, report.Terminal, r))
	}
}

// TestCommandAppearsOnce holds for all scenarios: a reader types a command once.
func TestCommandAppearsOnce(t *testing.T) {
	command := regexp.MustCompile("(?m)(?:`|^)(accelgate [a-z]+ [^`\n]*)")
	for _, name := range names(t) {
		text := render(t, report.Markdown, report.New(load(t, name).input()))
		var seen []string
		for _, m := range command.FindAllStringSubmatch(text, -1) {
			if slices.Contains(seen, m[1]) {
				t.Errorf("%s: %q appears twice", name, m[1])
			}
			seen = append(seen, m[1])
		}
	}
}

// TestRestNamesItsAxis says of the rows that are not shown what they share.
func TestRestNamesItsAxis(t *testing.T) {
	h := grid(15, 3, func(res *bench.Result) bool {
		if res.Cell.Get("feature") == "f02" {
			res.Samples[0].Values = []float64{80, 80.2, 79.9}
		}
		return true
	})
	text := render(t, report.Markdown, report.New(judged(report.Input{Policy: gate.DefaultPolicy()}, h)))
	if want := "… and 20 more slower (all 30 have feature `f02`)"; !strings.Contains(text, want) {
		t.Errorf("lacks %q:\n%s", want, text)
	}
}

// FuzzCrashLog has a log of any kind in six crashes of one cause and in one of another:
// comment, terminal and explanation stay what they are.
func FuzzCrashLog(f *testing.F) {
	for _, evil := range hostile {
		f.Add("loading\n" + evil + "\nerror: " + evil)
	}
	f.Fuzz(func(t *testing.T, log string) {
		i := 0
		h := grid(2, 2, func(res *bench.Result) bool {
			i++
			return i == 8 || crash(res, log[:len(log)*min(i, 7)/7])
		})
		r := report.New(judged(report.Input{Tool: "accelgate v0.1.0"}, h))
		text := render(t, report.Markdown, r)
		skeleton(t, text)
		if got := shownVerdicts(text); got != 7 {
			t.Errorf("%d blocking verdicts are shown or counted, want 7", got)
		}
		checkPlain(t, render(t, report.Terminal, r))
		checkPlain(t, explained(t, r, r.CellIDs(), 80))
		for _, f := range r.Findings(9) {
			checkPlain(t, f.Message)
		}
	})
}
