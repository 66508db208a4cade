package baseline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/baseline"
	"github.com/accelgate/accelgate/internal/bench"
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
		for _, p := range baseline.Lint(path, parse(t, data), now) {
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
	check(tuesday, "baseline-h.json", text, `error line 0 | host_label is "linux-cuda" but the file is named baseline-h.json`)
	check(tuesday, path, replaced(`"host_label": "linux-cuda"`, `"host_label": "a b"`), `error line 0 | host label "a b" is not usable in a file name`)
	check(tuesday, path, "{}\n",
		`error line 0 | host label "" is not usable in a file name`,
		"error line 0 | there is no fingerprint, so no speed can be judged",
		"warning line 0 | captured_at is missing",
		"warning line 1 | not in the form that accelgate writes, from this line on")

	// The form.
	check(tuesday, path, strings.TrimSuffix(text, "\n"), "warning line 0 | there is no newline at the end of the file")
	check(tuesday, path, text+"\n", "warning line 34 | not in the form that accelgate writes, from this line on")
	check(tuesday, path, replaced(`"mad": 0.5`, `"mad": 0.50`), "warning line 16 | not in the form that accelgate writes, from this line on")
	check(tuesday, path, replaced(`"case_id": "a"`, `"case_id": "c"`), "warning line 22 b| entries are not sorted by case_id from here on")

	// The entries.
	check(tuesday, path, replaced(`"ok": true`, `"ok": false`), "warning line 9 a| ok is false, so this cell is not judged")
	check(tuesday, path, replaced(`"correctness_ok": null`, `"correctness_ok": false`), "error line 9 a| ok and correctness_ok contradict each other")
	check(tuesday, path, replaced(`"n": 2, "better": "higher"`, `"n": 0`),
		"error line 9 a| decode_tps", "error line 9 a| decode_tps", "error line 22 b| decode_tps")
	check(tuesday, path, replaced(`"mad": 0.5`, `"mad": 200`), "warning line 9 a| decode_tps")
	check(tuesday, path, replaced(`"decode_tps": 50`, `"decode_tps": 51`), "error line 22 b| decode_tps is 51 in the entry itself and 50 in metrics")
	check(tuesday, path, replaced("      \"decode_tps\": 50,\n", ""), "error line 22 b| decode_tps is 50 in metrics and missing in the entry itself")
	check(tuesday, path, replaced(`"decode_tps": 50,`, "\"decode_tps\": 50,\n      \"model_load_ms\": 7,"), "error line 22 b| model_load_ms is 7 in the entry itself and missing in metrics")
	check(tuesday, path, replaced(`{"median": 50,`, `{"median": 0,`), "error line 22 b| decode_tps", "error line 22 b| decode_tps is 50 in the entry itself and 0 in metrics")
	check(tuesday, path, replaced(`"n": 1, "better": "higher", "unit": "tok/s"}`, `"n": 1, "better": "lower", "unit": "s"}`), "error line 22 b| decode_tps")

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
	if got := baseline.Lint("baseline-linux-cuda.json", f, monday); len(got) > 0 {
		t.Errorf("Lint = %+v, want nothing", got)
	}
	kept, _ := baseline.Prune(parse(t, handWritten), func(string) bool { return true })
	for _, p := range baseline.Lint("baseline-macos-mlx.json", kept, monday) {
		if strings.Contains(p.Message, "form") {
			t.Errorf("Lint judges the form of a file that is not on disk: %+v", p)
		}
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
		Line: 1 + strings.Count(string(data[:strings.Index(string(data), "{\n      \"case_id\": \"tiny__vulkan")]), "\n"), CaseID: "tiny__vulkan__tg128__baseline",
		Severity: baseline.SeverityWarning, Message: "ok is false, so this cell is not judged: repair it and run accelgate baseline update, or prune it",
	}}
	if diff := cmp.Diff(want, baseline.Lint(path, f, f.CapturedAt)); diff != "" {
		t.Errorf("Lint (-want +got):\n%s", diff)
	}
}
