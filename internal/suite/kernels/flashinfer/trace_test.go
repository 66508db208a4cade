package flashinfer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
)

// result is a trace with a result under a key.
func result(uuid string, status flashinfer.Status, config string) *flashinfer.Trace {
	e := &flashinfer.Evaluation{
		Status: status, Timestamp: "2026-05-02T08:00:00", Log: "built\n",
		Environment: flashinfer.Environment{Hardware: "Example CPU", Libs: map[string]string{"go": "1.26"}},
	}
	if config != "" {
		e.Gate = &flashinfer.Gate{Key: flashinfer.Key{Definition: "d", Solution: "s", Workload: "w", Config: config, Environment: "e"}, Timer: "wall", Seed: math.MaxUint64,
			Samples: []int64{1, 2, 3}, Extra: json.RawMessage(`{"slope_ns":4}`)}
	}
	if status == flashinfer.Passed || status == flashinfer.IncorrectNumerical {
		e.Correctness = &flashinfer.Correctness{MaxRelativeError: math.Inf(1), MaxAbsoluteError: 0.25, Extra: json.RawMessage(`{"matched_ratio":0.5}`)}
	}
	if status == flashinfer.Passed {
		e.Performance = &flashinfer.Performance{LatencyMS: 2, ReferenceLatencyMS: 3, SpeedupFactor: 1.5}
	}
	return &flashinfer.Trace{Definition: "scale_n4", Solution: "scale_n4_loop", Evaluation: e, Workload: flashinfer.Workload{
		UUID: uuid, Axes: map[string]int{"rows": 1}, Inputs: map[string]flashinfer.Input{
			"x": {Type: flashinfer.Random}, "flag": {Type: flashinfer.Scalar, Value: 1, Bool: true}, "k": {Type: flashinfer.Scalar, Value: 5},
			"o": {Type: flashinfer.Safetensors, Path: "./blob/o.safetensors", TensorKey: "o"}},
	}}
}

func encode(t testing.TB, tr *flashinfer.Trace) string {
	t.Helper()
	line, err := flashinfer.EncodeTrace(tr)
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

// TestTraceAsUpstreamReadsIt: compact, all fields, numbers that JSON lacks as
// words, and what is ours in one object.
func TestTraceAsUpstreamReadsIt(t *testing.T) {
	t.Parallel()
	want := `{"definition":"scale_n4","workload":{"axes":{"rows":1},"inputs":{"flag":{"type":"scalar","value":true},"k":{"type":"scalar","value":5},` +
		`"o":{"type":"safetensors","path":"./blob/o.safetensors","tensor_key":"o"},"x":{"type":"random"}},"uuid":"w1"},` +
		`"solution":"scale_n4_loop","evaluation":{"status":"INCORRECT_NUMERICAL","environment":{"hardware":"Example CPU","libs":{"go":"1.26"}},` +
		`"timestamp":"2026-05-02T08:00:00","log":"<&>\n","correctness":{"max_relative_error":"Infinity","max_absolute_error":"NaN","extra":{"matched_ratio":0.5}},` +
		`"performance":null,"gate":{"key":{"definition":"d","solution":"s","workload":"w","config":"c","environment":"e"},"timer":"wall",` +
		`"seed":"18446744073709551615","samples_ns":[1,2,3],"extra":{"slope_ns":4}}}}`
	tr := result("w1", flashinfer.IncorrectNumerical, "c")
	tr.Evaluation.Correctness.MaxAbsoluteError = math.NaN()
	tr.Evaluation.Log = "<&>\n"
	if got := encode(t, tr); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	workload := encode(t, &flashinfer.Trace{Definition: "scale_n4", Workload: flashinfer.Workload{UUID: "w"}})
	if want := `{"definition":"scale_n4","workload":{"axes":{},"inputs":{},"uuid":"w"},"solution":null,"evaluation":null}`; workload != want {
		t.Errorf("got\n%s\nwant\n%s", workload, want)
	}
}

func TestTracesComeBack(t *testing.T) {
	t.Parallel()
	for _, status := range []flashinfer.Status{
		flashinfer.Passed, flashinfer.IncorrectShape, flashinfer.IncorrectNumerical, flashinfer.IncorrectDType, flashinfer.RuntimeError,
		flashinfer.CompileError, flashinfer.TimedOut, flashinfer.Suspect, flashinfer.Inconclusive,
	} {
		tr := result("w1", status, "c")
		line := encode(t, tr)
		if strings.Contains(line, `"status":"SUSPECT","env`) || strings.Contains(line, `"status":"INCONCLUSIVE","env`) || strings.Count(line, "SUSPECT") != strings.Count(string(status), "SUSPECT") {
			t.Errorf("upstream cannot read %s", line)
		}
		back, err := flashinfer.ParseTrace(flashinfer.Place{}, []byte(line))
		if err != nil {
			t.Fatal(err)
		}
		back.Place = flashinfer.Place{}
		if status == flashinfer.Suspect || status == flashinfer.Inconclusive {
			tr.Evaluation.Gate.Status = status
		}
		if !reflect.DeepEqual(back, tr) {
			t.Errorf("%s comes back as\n%+v\nwant\n%+v", status, back.Evaluation, tr.Evaluation)
		}
	}
}

func TestWhatIsNotWritten(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*flashinfer.Trace){
		"skipped":           func(tr *flashinfer.Trace) { tr.Evaluation.Status = flashinfer.Skipped },
		"unknown status":    func(tr *flashinfer.Trace) { tr.Evaluation.Status = "FINE" },
		"no timestamp":      func(tr *flashinfer.Trace) { tr.Evaluation.Timestamp = "" },
		"no performance":    func(tr *flashinfer.Trace) { tr.Evaluation.Performance = nil },
		"infinite latency":  func(tr *flashinfer.Trace) { tr.Evaluation.Performance.LatencyMS = math.Inf(1) },
		"negative error":    func(tr *flashinfer.Trace) { tr.Evaluation.Correctness.MaxAbsoluteError = -1 },
		"minus infinity":    func(tr *flashinfer.Trace) { tr.Evaluation.Correctness.MaxAbsoluteError = math.Inf(-1) },
		"suspect's numbers": func(tr *flashinfer.Trace) { tr.Evaluation.Status = flashinfer.Suspect },
		"no solution":       func(tr *flashinfer.Trace) { tr.Solution = "" },
		"input of no type":  func(tr *flashinfer.Trace) { tr.Workload.Inputs["x"] = flashinfer.Input{} },
	} {
		tr := result("w1", flashinfer.Passed, "c")
		spoil(tr)
		if line, err := flashinfer.EncodeTrace(tr); err == nil {
			t.Errorf("%s is written as %s", name, line)
		}
	}
	long := result("w1", flashinfer.RuntimeError, "")
	long.Evaluation.Log = strings.Repeat("ä", 3<<20)
	if line := encode(t, long); len(line) > 5<<20+2000 || !strings.Contains(line, `ä\n[log truncated]"`) {
		t.Errorf("a log of 6 MiB makes a line of %d bytes", len(line))
	}
}

// TestAppendAfterAKill cuts the second of three lines off at every byte: what
// is whole stays, what is not goes, and the file is fine afterwards.
func TestAppendAfterAKill(t *testing.T) {
	t.Parallel()
	root, name := t.TempDir(), filepath.Join("traces", "ann", "scale.jsonl")
	path := filepath.Join(root, name)
	first, second, third := result("w1", flashinfer.Passed, "c"), result("w2", flashinfer.TimedOut, ""), result("w3", flashinfer.Passed, "c")
	if _, err := flashinfer.AppendTrace(root, name, first); err != nil {
		t.Fatal(err)
	}
	second.Evaluation.Log = "größer\n"
	one, two, three := encode(t, first)+"\n", encode(t, second), encode(t, third)+"\n"
	if got, err := os.ReadFile(path); err != nil || string(got) != one {
		t.Fatalf("a new file holds %q, %v", got, err)
	}
	for n := range len(two) + 1 {
		if err := os.WriteFile(path, []byte(one+two[:n]), 0o644); err != nil {
			t.Fatal(err)
		}
		cut, err := flashinfer.AppendTrace(root, name, third)
		want, wantCut := one+three, n
		if n == len(two) {
			want, wantCut = one+two+"\n"+three, 0
		}
		if got, _ := os.ReadFile(path); err != nil || int(cut) != wantCut || string(got) != want {
			t.Fatalf("after %d bytes: cut %d, %v, got\n%s\nwant\n%s", n, cut, err, got, want)
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	root, name := t.TempDir(), "traces.jsonl"
	path := filepath.Join(root, name)
	for _, content := range []string{"{}\n{\"a\": nope}", strings.Repeat("x", 33<<20)} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := flashinfer.AppendTrace(root, name, result("w1", flashinfer.Passed, "c"))
		if got, _ := os.ReadFile(path); err == nil || string(got) != content {
			t.Errorf("%.20q: %v, and the file has %d bytes", content, err, len(got))
		}
	}
	if _, err := flashinfer.AppendTrace(root, name, &flashinfer.Trace{Definition: "d", Workload: flashinfer.Workload{UUID: "w"}}); err == nil {
		t.Error("a workload is appended to traces")
	}
	for _, content := range []string{"", "\n"} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if cut, err := flashinfer.AppendTrace(root, name, result("w1", flashinfer.Passed, "c")); err != nil || cut != 0 {
			t.Errorf("%q: cut %d, %v", content, cut, err)
		}
	}
}

// TestAppendFollowsNoLinks: a dataset is foreign, and what its traces lead to
// need not be one of its files.
func TestAppendFollowsNoLinks(t *testing.T) {
	t.Parallel()
	for name, lay := range map[string]func(root, outside string) error{
		"traces":     func(root, outside string) error { return os.Symlink(outside, filepath.Join(root, "traces")) },
		"traces/ann": func(root, outside string) error { return link(outside, root, "traces", "ann") },
		"traces/ann/x.jsonl": func(root, outside string) error {
			return link(filepath.Join(outside, "own"), root, "traces", "ann", "x.jsonl")
		},
		"traces/ann/x.jsonl, dangling": func(root, outside string) error { return link("nothing", root, "traces", "ann", "x.jsonl") },
		"traces/ann/x.jsonl, inside": func(root, _ string) error {
			return errors.Join(os.WriteFile(filepath.Join(root, "own"), []byte("mine\n"), 0o644), link("../../own", root, "traces", "ann", "x.jsonl"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			root, outside := t.TempDir(), t.TempDir()
			if err := os.WriteFile(filepath.Join(outside, "own"), []byte("mine\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := lay(root, outside); err != nil {
				t.Fatal(err)
			}
			link, _, _ := strings.Cut(name, ",")
			_, err := flashinfer.AppendTrace(root, filepath.Join("traces", "ann", "x.jsonl"), result("w1", flashinfer.Passed, "c"))
			if err == nil || !strings.Contains(err.Error(), filepath.FromSlash(link)+" is a link, which is not followed; put an ordinary file or folder there") {
				t.Errorf("got %v", err)
			}
			for _, dir := range []string{root, outside} {
				if text, err := os.ReadFile(filepath.Join(dir, "own")); err == nil && string(text) != "mine\n" {
					t.Errorf("the file holds %q", text)
				}
			}
			if entries, _ := os.ReadDir(outside); len(entries) != 1 {
				t.Errorf("outside are %v", entries)
			}
		})
	}
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "traces", "ann", "x.jsonl"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := flashinfer.AppendTrace(root, filepath.Join("traces", "ann", "x.jsonl"), result("w1", flashinfer.Passed, "c")); err == nil ||
		!strings.Contains(err.Error(), "x.jsonl is not an ordinary file; put an ordinary file") {
		t.Errorf("a folder: %v", err)
	}
}

// link makes a link and the folders that it is in.
func link(to string, path ...string) error {
	at := filepath.Join(path...)
	return errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(to, at))
}

func TestDedupe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "traces.jsonl")
	// Spaces stay as they are.
	line := func(tr *flashinfer.Trace) string { return strings.Replace(encode(t, tr), ":", ": ", 1) + "\n" }
	a1, a2 := line(result("w1", flashinfer.TimedOut, "c")), line(result("w1", flashinfer.Passed, "c"))
	other, old, old2 := line(result("w1", flashinfer.Passed, "other")), line(result("w1", flashinfer.Passed, "")), line(result("w1", flashinfer.RuntimeError, ""))
	b := line(result("w2", flashinfer.Passed, "c"))
	if err := os.WriteFile(path, []byte(a1+old+"\n"+b+other+old2+a2+`{"definition":`), 0o600); err != nil {
		t.Fatal(err)
	}
	done, err := flashinfer.Dedupe(path, false)
	if want := (flashinfer.Compacted{Kept: 4, Dropped: 2, Cut: 14}); err != nil || done != want {
		t.Errorf("got %+v, %v; want %+v", done, err, want)
	}
	if got, _ := os.ReadFile(path); string(got) != b+other+old2+a2 {
		t.Errorf("kept\n%s", got)
	}
	if done, err := flashinfer.Dedupe(path, false); err != nil || done != (flashinfer.Compacted{Kept: 4}) {
		t.Errorf("again: %+v, %v", done, err)
	}
	if err := os.WriteFile(path, []byte(a1+"{}\n"+a1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := flashinfer.Dedupe(path, false); err == nil || !strings.Contains(err.Error(), "traces.jsonl:2: ") {
		t.Errorf("a line that is not a trace: %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != a1+"{}\n"+a1 {
		t.Errorf("the file was changed:\n%s", got)
	}
	if _, err := flashinfer.Dedupe(filepath.Join(t.TempDir(), "absent"), false); err == nil {
		t.Error("an absent file is fine")
	}
}

// TestDedupeAll: all traces of a dataset are compacted, a file that is wrong does
// not keep the others from it, and nothing else is touched.
func TestDedupeAll(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	line := encode(t, result("w1", flashinfer.Passed, "c")) + "\n"
	put := func(name, text string) string {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	workload := encode(t, &flashinfer.Trace{Definition: "d", Workload: flashinfer.Workload{UUID: "w"}}) + "\n"
	want := map[string]string{
		put("traces/ann/x/a.jsonl", line+line+line): line, put("traces/ben/b.jsonl", line+line): line, put("traces/ben/c.jsonl", line): line,
		put("traces/ben/bad.jsonl", line+workload+line): line + workload + line, put("workloads/x/a.jsonl", workload+workload): workload + workload,
		put("traces/ben/notes.txt", line+line): line + line,
	}
	files, err := flashinfer.DedupeAll(root, false)
	if err == nil || !strings.Contains(err.Error(), "bad.jsonl:2: evaluation: a trace needs a result") ||
		strings.Count(err.Error(), ".jsonl:") != 1 || len(files) != 3 ||
		files[0].Compacted != (flashinfer.Compacted{Kept: 1, Dropped: 2}) || files[2].Compacted != (flashinfer.Compacted{Kept: 1}) {
		t.Errorf("got %+v, %v", files, err)
	}
	for path, text := range want {
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%s holds %q, %v, want %q", path, got, err, text)
		}
	}
	if files, err := flashinfer.DedupeAll(filepath.Join(root, "traces", "ann"), false); err != nil || len(files) != 1 {
		t.Errorf("a folder below: %+v, %v", files, err)
	}
	for name, lay := range map[string]func(dir string) error{
		"no *.jsonl": func(string) error { return nil },
		"is a link":  func(dir string) error { return os.Symlink(filepath.Join(root, "traces"), filepath.Join(dir, "x")) },
	} {
		dir := t.TempDir()
		if err := lay(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := flashinfer.DedupeAll(dir, false); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "traces", "ben", "c.jsonl"), filepath.Join(root, "c.jsonl")); err != nil {
		t.Fatal(err)
	}
	if _, err := flashinfer.Dedupe(filepath.Join(root, "c.jsonl"), false); err == nil || !strings.Contains(err.Error(), "c.jsonl is a link") {
		t.Errorf("a link: %v", err)
	}
}

func TestDone(t *testing.T) {
	t.Parallel()
	passed, failed, foreign := result("w1", flashinfer.Passed, "c"), result("w2", flashinfer.Passed, "c"), result("w3", flashinfer.Passed, "")
	later := result("w2", flashinfer.TimedOut, "c")
	results := flashinfer.Index([]*flashinfer.Trace{failed, passed, later, foreign})
	if tr, ok := results.Done(passed.Case()); !ok || tr != passed {
		t.Errorf("what passed is measured again: %v", tr)
	}
	for name, c := range map[string]flashinfer.Case{
		"failed later": failed.Case(), "of upstream": foreign.Case(), "other config": result("w1", flashinfer.Passed, "d").Case(), "unknown": {},
	} {
		if _, ok := results.Done(c); ok {
			t.Errorf("%s counts as done", name)
		}
	}
}

// TestHashes: each part that matters changes the hash, and text cannot move
// from one part to its neighbour unnoticed.
func TestHashes(t *testing.T) {
	t.Parallel()
	base := func() *flashinfer.Solution {
		return &flashinfer.Solution{Name: "a", Author: "b", Definition: "scale_n4", Language: "python", EntryPoint: "main.py::run", Dependencies: []string{"torch", "triton"},
			Sources: []flashinfer.Source{{Path: "main.py", Content: "def run(): pass\n"}}}
	}
	seen := map[string]string{base().Hash(): "nothing"}
	for name, alter := range map[string]func(*flashinfer.Solution){
		"definition":   func(s *flashinfer.Solution) { s.Definition = "scale_n8" },
		"language":     func(s *flashinfer.Solution) { s.Language = "triton" },
		"entry point":  func(s *flashinfer.Solution) { s.EntryPoint = "main.py::go" },
		"binding":      func(s *flashinfer.Solution) { s.Binding = "torch" },
		"style":        func(s *flashinfer.Solution) { s.DestinationPassing = true },
		"dependencies": func(s *flashinfer.Solution) { s.Dependencies = []string{"torchtriton"} },
		"moved":        func(s *flashinfer.Solution) { s.Dependencies = []string{"torcht", "riton"} },
		"sources":      func(s *flashinfer.Solution) { s.Sources[0].Content += "\n" },
		"path": func(s *flashinfer.Solution) {
			s.Sources[0] = flashinfer.Source{Path: "main.pyd", Content: "ef run(): pass\n"}
		},
	} {
		s := base()
		if alter(s); seen[s.Hash()] != "" {
			t.Errorf("%s has the hash of %s", name, seen[s.Hash()])
		}
		seen[s.Hash()] = name
	}
	s := base()
	if s.Name, s.Author, s.Description = "x", "y", "z"; s.Hash() != base().Hash() {
		t.Error("the name is a part of the hash")
	}
	d := load(t, dataset).Definition("scale_n4")
	w := &load(t, dataset).Workload("scale_n4", "w1").Workload
	hashes := fmt.Sprint(d.Hash(), w.Hash())
	d.Description, d.Tags = "", nil
	if hashes != fmt.Sprint(d.Hash(), w.Hash()) {
		t.Error("a description is a part of the hash")
	}
	d.Inputs[2].Scalar = false
	in := w.Inputs["factor"]
	in.Value = 0.25
	w.Inputs["factor"] = in
	if key := flashinfer.NewKey(d, s, w, "c", "e"); strings.Contains(hashes, key.Definition) || strings.Contains(hashes, key.Workload) || key.Solution != s.Hash() {
		t.Errorf("the key %+v is that of something else", key)
	}
}

func FuzzTrace(f *testing.F) {
	for _, tr := range []*flashinfer.Trace{result("w1", flashinfer.Passed, "c"), result("w1", flashinfer.Suspect, ""), {Definition: "d", Workload: flashinfer.Workload{UUID: "u"}}} {
		f.Add(encode(f, tr))
	}
	f.Add(`{"definition":"d","workload":{"axes":{"a":1e3},"inputs":{"x":{"type":"scalar","value":1e999}}},"solution":"","evaluation":{}}`)
	f.Fuzz(func(t *testing.T, line string) {
		tr, err := flashinfer.ParseTrace(flashinfer.Place{Path: "p", Line: 3}, []byte(line))
		if err != nil {
			oneLineEach(t, err)
			return
		}
		again, err := flashinfer.ParseTrace(tr.Place, []byte(encode(t, tr)))
		if err != nil || encode(t, again) != encode(t, tr) {
			t.Errorf("%q comes back as %q, %v", line, encode(t, again), err)
		}
	})
}

// oneLineEach holds messages against what could forge others.
func oneLineEach(t *testing.T, err error) {
	t.Helper()
	problems, ok := err.(flashinfer.Problems)
	if !ok || len(problems) == 0 {
		t.Fatalf("got %v, want problems", err)
	}
	for _, p := range problems {
		if text := p.Error(); strings.ContainsAny(text, "\n\r\x1b") || strings.Contains(text, "##[") || len(text) > 4000 {
			t.Errorf("the message is not one short, plain line: %q", text)
		}
	}
}
