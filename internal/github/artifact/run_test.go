package artifact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/github/artifact"
	"github.com/accelgate/accelgate/internal/report"
)

// object is JSON that a test changes.
type object = map[string]any

// document is an honest run of the cell "a", as slow as its baseline allows not.
func document() object {
	return object{"schema": 1, "tool": "accelgate v0.1.0", "revision": strings.Repeat("a", 40), "started": "2026-01-01T00:00:00Z",
		"host": object{"label": "desk", "cpu": "c", "cores": 2}, "metrics": []any{object{"name": "tps", "unit": "tok/s", "better": "higher"}},
		"results": []any{result("a", 50)}}
}

func result(id string, tps float64) object {
	return object{"cell": object{"id": id}, "outcome": "passed", "samples": []any{object{"metric": "tps", "values": []any{tps, tps, tps}}}}
}

// reference is the baseline of the base branch.
func reference() *bench.Run {
	return &bench.Run{Schema: 1, Host: bench.Host{Label: "desk", Fingerprint: bench.Fingerprint{CPU: "c", Cores: 2}},
		Metrics: []bench.Metric{{Name: "tps", Unit: "tok/s", Better: bench.Higher}},
		Results: []bench.Result{{Cell: bench.Cell{Raw: "a"}, Outcome: bench.Passed, Samples: []bench.Sample{{Metric: "tps", Summary: &bench.Summary{Median: 100, MAD: 1, N: 3}}}}}}
}

// first is the only result of a document.
func first(d object) object { return d["results"].([]any)[0].(object) }

const injected = "@octocat #1 **b** `x` | <script>alert(1)</script> ![x](http://evil.example/x.png) </details> ::error::x ##[error]x"

// slower names the run that the others are a change of.
const slower = "a slower cell"

type hostileRun struct {
	name    string
	refused string // "" is judged
	status  gate.Status
	change  func(d object)
	text    func(json string) string // in place of change, what no encoder writes
}

func (c hostileRun) json(t *testing.T) []byte {
	t.Helper()
	d := document()
	if c.change != nil {
		c.change(d)
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if c.text != nil {
		text = []byte(c.text(string(text)))
	}
	if honest, err := json.Marshal(document()); c.name != slower && (err != nil || bytes.Equal(text, honest)) {
		t.Fatalf("the document is not changed: %v", err)
	}
	return text
}

// hostileRuns are valid archives whose run.json is hostile. Each is refused
// when it is decoded, with a part of the reason, or judged: never green, and
// with nothing of it left in Markdown or on a terminal that either obeys. The first is honest: it passes.
var hostileRuns = []hostileRun{
	{name: "control", status: gate.StatusPassed, change: func(d object) { d["results"] = []any{result("a", 100)} }},

	// Green by decree.
	{name: "a verdict of its own", refused: `unknown field "verdict"`, change: func(d object) { d["verdict"] = "passed" }},
	{name: "a decision of its own", refused: `unknown field "decision"`, change: func(d object) { d["decision"] = object{"status": "passed"} }},
	{name: "verdicts in a result", refused: `unknown field "class"`, change: func(d object) { first(d)["class"] = "unchanged" }},
	{name: "waivers of its own", refused: `unknown field "waivers"`, change: func(d object) { d["waivers"] = []any{} }},
	{name: "expectations of its own", refused: `unknown field "expected"`, change: func(d object) { d["expected"] = []any{} }},
	{name: slower, status: gate.StatusFailed, change: func(object) {}},
	{name: "a failure that says it passed", refused: `the key "outcome" occurs twice`,
		text: func(s string) string { return strings.Replace(s, `"outcome":`, `"outcome":"failed","outcome":`, 1) }},
	{name: "a failure that says it passed, in capitals", refused: `unknown key "OUTCOME"`,
		text: func(s string) string { return strings.Replace(s, `"outcome":`, `"OUTCOME":"failed","outcome":`, 1) }},
	{name: "another list of results", refused: `the key "results" occurs twice`,
		text: func(s string) string { return strings.Replace(s, `"results":`, `"results":[],"results":`, 1) }},
	{name: "an outcome that is none", refused: "unknown outcome", change: func(d object) { first(d)["outcome"] = "unchanged" }},
	{name: "no cells", status: gate.StatusFailed, change: func(d object) { d["results"] = []any{} }},
	{name: "no results", status: gate.StatusFailed, change: func(d object) { delete(d, "results") }},
	{name: "a cell without numbers", status: gate.StatusFailed, change: func(d object) { delete(first(d), "samples") }},
	{name: "a cell that is skipped", status: gate.StatusFailed, change: func(d object) { first(d)["outcome"] = "skipped"; delete(first(d), "samples") }},
	{name: "a metric that is not gated", status: gate.StatusFailed, change: func(d object) { d["metrics"].([]any)[0].(object)["informational"] = true }},
	{name: "a metric in the other direction", status: gate.StatusFailed, change: func(d object) { d["metrics"].([]any)[0].(object)["better"] = "lower" }},
	{name: "a step that explains everything", status: gate.StatusFailed, change: func(d object) { d["metrics"].([]any)[0].(object)["resolution"] = 1000 }},
	{name: "a metric that confirms itself", refused: "confirms itself", change: func(d object) { d["metrics"].([]any)[0].(object)["confirmed_by"] = "tps" }},
	{name: "a cell twice", refused: "occurs twice", change: func(d object) { d["results"] = []any{result("a", 50), result("a", 100)} }},
	{name: "a value that is null", refused: "null stands in a list", change: func(d object) { first(d)["samples"].([]any)[0].(object)["values"] = []any{nil} }},

	// Of something else.
	{name: "another host", status: gate.StatusActionRequired, change: func(d object) { d["host"].(object)["cpu"] = "another" }},
	{name: "another repository's host", status: gate.StatusActionRequired, change: func(d object) { d["host"].(object)["label"] = "elsewhere" }},
	{name: "a label that leads out of the folder", refused: "cannot name a file", change: func(d object) { d["host"].(object)["label"] = "../../etc/x" }},
	{name: "a label with a command", refused: "cannot name a file", change: func(d object) { d["host"].(object)["label"] = "x\n::error::y##[error]" }},
	{name: "another commit", status: gate.StatusFailed, change: func(d object) { d["revision"] = "@octocat](http://evil.example)" }},
	{name: "another schema", refused: "schema 2", change: func(d object) { d["schema"] = 2 }},
	{name: "no schema", refused: "schema 0", change: func(d object) { delete(d, "schema") }},
	{name: "a file of another kind", refused: "unknown field", text: func(string) string { return `{"version": "1.0", "entries": []}` }},
	{name: "a list", refused: "does not fit", text: func(string) string { return "[]" }},
	{name: "two documents", refused: "after top-level value", text: func(s string) string { return s + s }},
	{name: "a date that is none", refused: "parsing time", change: func(d object) { d["started"] = "yesterday" }},

	// Text that tries to leave its place.
	{name: "injection in an id", status: gate.StatusFailed, change: func(d object) { d["results"] = []any{result("a", 50), result(injected, 50)} }},
	{name: "injection in a reason", status: gate.StatusFailed, change: func(d object) { first(d)["outcome"] = "failed"; first(d)["reason"] = injected }},
	{name: "injection in a log", status: gate.StatusFailed, change: func(d object) { first(d)["outcome"] = "failed"; first(d)["log"] = "```\n" + injected }},
	{name: "injection in an answer", status: gate.StatusFailed, change: func(d object) { first(d)["outcome"] = "incorrect"; first(d)["output"] = "\n\n" + injected }},
	{name: "injection in a command", status: gate.StatusFailed, change: func(d object) { first(d)["outcome"] = "failed"; first(d)["command"] = []any{injected} }},
	{name: "injection in a warning", status: gate.StatusFailed, change: func(d object) { d["warnings"] = []any{injected} }},
	{name: "injection in a condition", status: gate.StatusFailed, change: func(d object) { d["context"] = object{injected: injected} }},
	{name: "injection in a machine", status: gate.StatusFailed, change: func(d object) { d["host"].(object)["driver"] = injected }},
	{name: "injection in a tool", status: gate.StatusFailed, change: func(d object) { d["tool"] = injected }},
	{name: "injection in an unknown cause and device", status: gate.StatusFailed, change: func(d object) {
		maps.Copy(first(d), object{"outcome": "failed", "cause": injected, "device": injected, "aa_partner": injected})
	}},
	{name: "injection in a metric", status: gate.StatusFailed, change: func(d object) {
		d["metrics"] = append(d["metrics"].([]any), object{"name": injected[:100], "unit": injected[:100], "better": "higher"})
		first(d)["samples"] = append(first(d)["samples"].([]any), object{"metric": injected[:100], "values": []any{1}})
	}},
	{name: "control and bidi characters", status: gate.StatusFailed, change: func(d object) {
		d["results"] = []any{result("a\x1b[2J\u202e\u200b\x00\r\n\u2028", 50)}
		d["warnings"] = []any{"\x1b]0;owned\x07\u202e"}
	}},
	{name: "a failure named by injection", status: gate.StatusFailed, change: func(d object) {
		d["results"] = []any{result("a", 100), object{"cell": object{"id": injected, "suite": injected}, "outcome": "incorrect", "reason": injected}}
	}},
	{name: "a failure named by control and bidi characters", status: gate.StatusFailed, change: func(d object) {
		d["results"] = []any{result("a", 100), object{"cell": object{"id": "x\x1b[2J\u202e\u200b\x00\r\n::error::y\u2028"}, "outcome": "failed", "reason": "\x1b]0;owned\x07\u202e"}}
	}},
	{name: "a field named by injection", refused: "unknown key", change: func(d object) { d[injected] = 1 }},
	{name: "an outcome named by injection", refused: "unknown outcome", change: func(d object) { first(d)["outcome"] = "\n::error::" + injected }},
	{name: "bytes that are no text", refused: "not UTF-8", text: func(s string) string { return strings.Replace(s, "accelgate", "\xff\xfe", 1) }},

	// Numbers.
	{name: "NaN", refused: "invalid character 'N'", text: func(s string) string { return strings.Replace(s, "50", "NaN", 1) }},
	{name: "infinity", refused: "invalid character 'I'", text: func(s string) string { return strings.Replace(s, "50", "Infinity", 1) }},
	{name: "1e999", refused: `a number does not fit at "/results`, text: func(s string) string { return strings.Replace(s, "50", "1e999", 1) }},
	{name: "the largest number", status: gate.StatusFailed, text: func(s string) string { return strings.ReplaceAll(s, "50", "1.7976931348623157e308") }},
	{name: "the least number", status: gate.StatusFailed, text: func(s string) string { return strings.ReplaceAll(s, "50", "-1.7976931348623157e308") }},
	{name: "2^63 requests", refused: "a number does not fit", text: func(s string) string {
		return strings.Replace(s, `"outcome"`, `"counts":{"n":9223372036854775808},"outcome"`, 1)
	}},
	{name: "2^63-1 requests", refused: "counts 9223372036854775807", text: func(s string) string {
		return strings.Replace(s, `"outcome"`, `"counts":{"n":9223372036854775807},"outcome"`, 1)
	}},
	{name: "2^63-1 calls", refused: "in 9223372036854775807 calls", text: func(s string) string {
		return strings.Replace(s, `"outcome"`, `"breakdowns":[{"entries":[{"name":"x","calls":9223372036854775807}]}],"outcome"`, 1)
	}},
	{name: "negative requests", refused: "counts -1", change: func(d object) { first(d)["counts"] = object{"n": -1} }},
	{name: "negative calls", refused: "in -1 calls", change: func(d object) {
		first(d)["breakdowns"] = []any{object{"entries": []any{object{"name": "x", "calls": -1}}}}
	}},
	{name: "negative retries", refused: "was repeated -1 times", change: func(d object) { first(d)["retries"] = -1 }},
	{name: "negative cores", refused: "-1 cores", change: func(d object) { d["host"].(object)["cores"] = -1 }},
	{name: "values of nothing", refused: "of nothing", change: func(d object) {
		first(d)["samples"] = []any{object{"metric": "tps", "summary": object{"median": 100, "mad": 0, "n": 0}}}
	}},
	{name: "a deviation below 0", refused: "summary", change: func(d object) {
		first(d)["samples"] = []any{object{"metric": "tps", "summary": object{"median": 100, "mad": -1, "n": 3}}}
	}},

	// Size.
	{name: "deep nesting", refused: "deeper than 16", change: func(d object) { d["context"] = nested(50) }},
	{name: "very deep nesting", refused: "max depth", text: func(string) string { return strings.Repeat(`{"a":`, 20_000) }},
	{name: "a huge text", refused: "more than 1048576 bytes", change: func(d object) { first(d)["log"] = strings.Repeat("x", 2<<20) }},
	{name: "a huge id", refused: "more than 4096 bytes", change: func(d object) { first(d)["cell"] = object{"id": strings.Repeat("x", 1<<20)} }},
	{name: "a huge name of a metric", refused: "more than 255 bytes", change: func(d object) { d["metrics"] = []any{object{"name": strings.Repeat("x", 1<<20), "better": "lower"}} }},
	{name: "a million results", refused: "results has more than 500000", text: func(s string) string {
		return strings.Replace(s, `"results":[`, `"results":[`+strings.Repeat("{},", 1_000_000), 1)
	}},
	{name: "600,000 results", refused: "results has more than 500000", text: func(s string) string {
		return strings.Replace(s, `"results":[`, `"results":[`+strings.Repeat(`{"cell":{"id":"x"},"outcome":"skipped"},`, 600_000), 1)
	}},
	{name: "a million metrics", refused: "metrics has more than 1000", text: func(s string) string {
		return strings.Replace(s, `"metrics":[`, `"metrics":[`+strings.Repeat("{},", 1_000_000), 1)
	}},
	{name: "a million names of cells", refused: "unselected has more than 500000", change: func(d object) { d["unselected"] = make([]string, 1_000_000) }},
	{name: "many conditions", refused: "more than 4096 keys", change: func(d object) {
		context := object{}
		for i := range 5000 {
			context[fmt.Sprint(i)] = ""
		}
		d["context"] = context
	}},
}

func nested(n int) any {
	if n == 0 {
		return 1
	}
	return object{"a": nested(n - 1)}
}

func TestHostileRuns(t *testing.T) {
	t.Parallel()
	for _, attack := range []string{"@octocat", "#1", "**b**", "<script", "![x", "](http://evil", "</details> :"} {
		if !strings.Contains(injected, attack) || !obeyed.MatchString(" "+attack) {
			t.Errorf("%q is not injected, or not found where it is obeyed", attack)
		}
	}
	for _, c := range hostileRuns {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			data := archive(item{name: "desk/run.json", data: string(c.json(t)), stored: true})
			files, err := artifact.Read(bytes.NewReader(data), int64(len(data)), artifact.Options{})
			if err != nil || len(files) != 1 {
				t.Fatalf("the archive is refused: %v", err)
			}
			got, err := bench.DecodeRun(files[0].Data)
			if err == nil {
				err = bench.CheckLabel(got.Host.Label)
			}
			if c.refused != "" || err != nil {
				refusedRun(t, err, c.refused)
				return
			}
			judgedRun(t, got, c.status)
		})
	}
}

func refusedRun(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || want == "" || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %.500v, want one with %q", err, want)
		return
	}
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if s := err.Error(); strings.ContainsFunc(s, odd) || len(s) > 1000 {
		t.Errorf("error %.500q is not one short line", s)
	}
}

// obeyed is what Markdown or GitHub would make something of. Code, in which
// they do not, is taken out before.
var (
	code   = regexp.MustCompile("(?s)```+text\n.*?\n```+\n|`+[^`\n]*(`x`[^`\n]*)*`+")
	obeyed = regexp.MustCompile(`@octocat|#1\b|\*\*b\*\*|<script|!\[|\]\(http://evil|</details>\s*:`)
)

// judgedRun checks what the base branch's baseline says of the run, and what
// people get to see.
func judgedRun(t *testing.T, run *bench.Run, want gate.Status) {
	t.Helper()
	ref := reference()
	if run.Host.Label != ref.Host.Label {
		ref = nil
	}
	policy := gate.DefaultPolicy()
	policy.RequireBaseline = true
	comparison := gate.Compare("base", ref, run, policy)
	decision := gate.Decide([]gate.Comparison{comparison}, policy)
	if decision.Status != want {
		t.Errorf("the run is %s, want %s", decision.Status, want)
	}
	r := report.New(report.Input{Tool: "accelgate", Now: time.Unix(1767225600, 0), Policy: policy, Decision: decision, Revision: run.Revision,
		Hosts: []report.HostInput{{Run: run, Reference: ref, Path: "baselines/baseline-desk.json", Comparison: comparison}}})
	var markdown, terminal, document bytes.Buffer
	for _, err := range []error{report.Markdown(&markdown, r), report.TerminalWith(report.TerminalOptions{})(&terminal, r), report.JSON(&document, r)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := obeyed.FindString(code.ReplaceAllString(markdown.String(), "")); got != "" {
		t.Errorf("Markdown holds %q:\n%s", got, markdown.String())
	}
	for line := range strings.Lines(markdown.String() + terminal.String()) {
		line = strings.TrimSuffix(line, "\n")
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
			t.Errorf("the line %q is obeyed by a terminal or a runner", line)
		}
	}
	if !json.Valid(document.Bytes()) {
		t.Errorf("the JSON report is none: %.300s", document.String())
	}
}
