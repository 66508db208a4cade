package jsonl_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/detect/jsonl"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func judge(t testing.TB, lines string, o jsonl.Options) []jsonl.Verdict {
	t.Helper()
	set := jsonl.Set{Options: o}
	if err := set.Read(strings.NewReader(lines), "lines"); err != nil {
		t.Fatal(err)
	}
	return set.Judge()
}

// TestCases judges the cases of a folder: lines, and what is to be said of each, or
// the error that refuses them.
func TestCases(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) < 20 {
		t.Fatal(len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil || len(archive.Files) != 2 || archive.Files[0].Name != "lines" {
				t.Fatal("want two files, lines first: ", err)
			}
			want := strings.TrimSpace(string(archive.Files[1].Data))
			if got := strings.TrimSpace(said(t, archive.Files[0].Data)); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// said is what is said of lines, short.
func said(t *testing.T, lines []byte) string {
	t.Helper()
	var set jsonl.Set
	if err := set.Read(bytes.NewReader(lines), "lines"); err != nil {
		var refused *jsonl.Error
		if !errors.As(err, &refused) {
			t.Errorf("%T: %v", err, err)
		}
		return err.Error()
	}
	var b strings.Builder
	for _, v := range set.Judge() {
		fmt.Fprintf(&b, "%s: %s n %d k %d", v.ID, v.Class, v.N, v.K)
		if v.Suspect {
			b.WriteString(" suspect")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// written is a line as people write it.
type written struct {
	ID        string       `json:"id"`
	Group     string       `json:"group,omitempty"`
	Better    string       `json:"better"`
	History   [][]*float64 `json:"history,omitempty"`
	Baseline  []*float64   `json:"baseline,omitempty"`
	Candidate []*float64   `json:"candidate,omitempty"`
	Paired    bool         `json:"paired,omitempty"`
}

// several reports whether a run has several values. Lines hold of which run a value is; the samples of detect do not.
func (w written) several() bool {
	return slices.ContainsFunc(append(slices.Clip(w.History), w.Baseline), func(run []*float64) bool { return len(run) > 1 })
}

func text(t testing.TB, all []written) string {
	t.Helper()
	var b strings.Builder
	for i := range all {
		line, err := json.Marshal(&all[i])
		if err != nil {
			t.Fatal(err)
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String()
}

func (w written) mapped(f func(float64) float64) written {
	each := func(values []*float64) (out []*float64) {
		for _, v := range values {
			if v != nil {
				x := f(*v)
				v = &x
			}
			out = append(out, v)
		}
		return out
	}
	var history [][]*float64
	for _, r := range w.History {
		history = append(history, each(r))
	}
	w.History, w.Baseline, w.Candidate = history, each(w.Baseline), each(w.Candidate)
	return w
}

// random is a cell of any kind: short and long histories, of one or several values
// a run, of sessions that differ or not, with values that are missing.
func random(rng *rand.Rand, id int) written {
	w := written{ID: fmt.Sprint(id), Better: "lower", Paired: rng.IntN(4) == 0}
	noise, between := math.Exp(-7*rng.Float64()), 0.01*rng.Float64()
	draw := func(n int, shift float64) (values []*float64) {
		level := shift + between*rng.NormFloat64()
		for range n {
			v := 100 * math.Exp(level+noise*rng.NormFloat64())
			values = append(values, &v)
			if rng.IntN(300) == 0 {
				values[len(values)-1] = nil
			}
		}
		return values
	}
	m, n := 1, 1+rng.IntN(10)
	if rng.IntN(3) == 0 {
		m = n
	}
	for range rng.IntN(40) {
		w.History = append(w.History, draw(m, 0))
	}
	if w.Paired || rng.IntN(3) == 0 {
		w.Baseline = draw(n, 0)
	}
	w.Candidate = draw(n, 0.1*rng.NormFloat64()*rng.Float64())
	return w
}

func cells(rng *rand.Rand, count int, group string) []written {
	all := make([]written, count)
	for i := range all {
		all[i] = random(rng, i)
		all[i].Group = group
	}
	return all
}

func source(t *testing.T) *rand.Rand {
	return rand.New(rand.NewPCG(testtier.Seed(t), 0))
}

func near(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return math.Abs(*a-*b) <= 1e-8*max(1, math.Abs(*a))
}

func alike(t *testing.T, what string, got, want jsonl.Verdict) {
	t.Helper()
	if got.Class != want.Class || got.Suspect != want.Suspect || got.N != want.N || got.K != want.K || !near(got.Change, want.Change) || !near(got.P, want.P) || !near(got.Q, want.Q) {
		t.Fatalf("%s: %s, want %s", what, shown(got), shown(want))
	}
}

func shown(v jsonl.Verdict) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// TestProperties: units and directions do not matter, nor the order of lines or of
// the candidate's values where they are judged alone: in a group, the first ones say
// how noisy the run is.
func TestProperties(t *testing.T) {
	t.Parallel()
	rng := source(t)
	for _, group := range []string{"", "g"} {
		for _, count := range []int{1, 15, 60, 60, 60} {
			all := cells(rng, count, group)
			want := judge(t, text(t, all), jsonl.Options{})

			order := rng.Perm(count)
			changed := make([]written, count)
			for to, from := range order {
				w := all[from]
				unit := math.Ldexp(1, rng.IntN(20)-10)
				w = w.mapped(func(v float64) float64 { return v * unit })
				if rng.IntN(2) == 0 {
					w = w.mapped(func(v float64) float64 { return 1 / v })
					w.Better = "higher"
				}
				if group == "" && !w.Paired && !slices.ContainsFunc(w.History, func(r []*float64) bool { return len(r) > 1 }) {
					rng.Shuffle(len(w.Candidate), func(i, j int) { w.Candidate[i], w.Candidate[j] = w.Candidate[j], w.Candidate[i] })
				}
				if group == "" && w.Paired {
					w = shuffledPairs(rng, w)
				}
				changed[to] = w
			}
			got := judge(t, text(t, changed), jsonl.Options{})
			for to, from := range order {
				v := got[to]
				if changed[to].Better == "higher" && v.Change != nil { // the change of the time that a rate is
					change := 1/(1+*v.Change) - 1
					v.Change = &change
				}
				alike(t, "turned about", v, want[from])
			}
		}
	}
}

// shuffledPairs changes the order of pairs.
func shuffledPairs(rng *rand.Rand, w written) written {
	w = w.mapped(func(v float64) float64 { return v })
	rng.Shuffle(len(w.Candidate), func(i, j int) {
		w.Candidate[i], w.Candidate[j] = w.Candidate[j], w.Candidate[i]
		w.Baseline[i], w.Baseline[j] = w.Baseline[j], w.Baseline[i]
	})
	return w
}

// TestSlower: what is slower is never less of an alarm, alone and in a group.
func TestSlower(t *testing.T) {
	t.Parallel()
	rng := source(t)
	severity := func(v jsonl.Verdict) int {
		switch {
		case v.Suspect:
			return 2
		case v.Class == jsonl.Regressed:
			return 3
		case v.Class == jsonl.Improved:
			return 0
		}
		return 1
	}
	for range 300 {
		w := random(rng, 0)
		var last jsonl.Verdict
		for step := range 6 {
			v := judge(t, text(t, []written{w}), jsonl.Options{})[0]
			if step > 0 && v.P != nil && (*v.P > *last.P+1e-12 || *v.Change < *last.Change || severity(v) < severity(last)) {
				t.Fatalf("slower, but %s after %s", shown(v), shown(last))
			}
			last = v
			slower := written{Candidate: w.Candidate}.mapped(func(v float64) float64 { return 1.02 * v })
			w.Candidate = slower.Candidate
		}
	}
}

// TestAsDetect: a line alone is what detect says of its values.
func TestAsDetect(t *testing.T) {
	t.Parallel()
	rng := source(t)
	compared := 0
	for range 500 {
		w := random(rng, 0)
		if !w.Paired && w.several() {
			continue
		}
		compared++
		o := detect.Options{Mode: detect.Interleaved}
		base := w.Baseline
		if !w.Paired {
			o.Mode = detect.History
			base = append(slices.Concat(w.History...), base...)
		}
		e := detect.Judge(floats(base), floats(w.Candidate), o)
		v := judge(t, text(t, []written{w}), jsonl.Options{})[0]
		if e.Verdict == detect.Untested {
			if v.Class != jsonl.Inconclusive || v.Change != nil || v.Reason != e.Reason {
				t.Errorf("%s, want %+v", shown(v), e)
			}
			continue
		}
		class := jsonl.Class(e.Verdict)
		if e.Verdict == detect.Suspect {
			class = jsonl.Inconclusive
		}
		if class == jsonl.Improved && e.High >= 0 {
			class = jsonl.Unchanged
		}
		if v.Class != class || *v.Change != e.Estimate || *v.Interval != [2]float64{e.Low, e.High} || *v.P != e.P || v.MDE != e.MDE || v.Mode != e.Mode {
			t.Errorf("%s, want %+v", shown(v), e)
		}
	}
	if compared < 100 {
		t.Errorf("%d were compared", compared)
	}
}

func floats(values []*float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.NaN()
		if v != nil {
			out[i] = *v
		}
	}
	return out
}

// group are quiet cells of one run, all slower by as much.
func group(rng *rand.Rand, count int, slower float64, runs func(cell int) int) []written {
	all := make([]written, count)
	for i := range all {
		all[i] = written{ID: fmt.Sprint(i), Group: "g", Better: "lower"}
		draw := func() *float64 { v := 50 * math.Exp(0.003*rng.NormFloat64()); return &v }
		for range runs(i) {
			all[i].History = append(all[i].History, []*float64{draw()})
		}
		all[i].Candidate = []*float64{draw()}
		*all[i].Candidate[0] *= slower
	}
	return all
}

func classes(all []jsonl.Verdict) map[jsonl.Class]int {
	m := map[jsonl.Class]int{}
	for _, v := range all {
		m[v.Class]++
	}
	return m
}

// suspects counts the cells that a single run makes suspects.
func suspects(all []jsonl.Verdict) (n int) {
	for _, v := range all {
		if v.Suspect && v.Class == jsonl.Inconclusive {
			n++
		}
	}
	return n
}

// TestAllSlower: a candidate that slows down every cell of a group is found in each,
// whether or not the histories may be of the same runs.
func TestAllSlower(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	equal := func(int) int { return 30 }
	for _, runs := range []func(int) int{equal, func(i int) int { return 15 + i%20 }} {
		if got := judge(t, text(t, group(rng, 60, 1.08, runs)), jsonl.Options{}); suspects(got) < 58 || classes(got)[jsonl.Regressed] > 0 {
			t.Errorf("all slower: %v", classes(got))
		}
		if got := classes(judge(t, text(t, group(rng, 60, 1/1.08, runs)), jsonl.Options{})); got[jsonl.Improved] < 50 {
			t.Errorf("all faster: %v", got)
		}
		if got := classes(judge(t, text(t, group(rng, 60, 1, runs)), jsonl.Options{})); got[jsonl.Regressed] > 0 {
			t.Errorf("nothing: %v", got)
		}
	}
	all := judge(t, text(t, group(rng, 60, 1.08, equal)), jsonl.Options{})
	if !strings.Contains(all[0].Reason, "all cells of the group became slower by 8.") || !strings.Contains(all[0].Reason, "look at") {
		t.Errorf("reason %q", all[0].Reason)
	}
}

// TestShift: what a night does to all cells is no news where other nights did the
// same, is said, and hides nothing beyond it.
func TestShift(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 1))
	all := group(rng, 60, 1.05, func(int) int { return 30 })
	for run := range 30 {
		night := math.Exp(0.04 * rng.NormFloat64())
		for i := range all {
			*all[i].History[run][0] *= night
		}
	}
	*all[7].Candidate[0] *= 1.05
	got := judge(t, text(t, all), jsonl.Options{})
	if c := classes(got); suspects(got) != 1 || !got[7].Suspect || c[jsonl.Regressed] > 0 || math.Abs(got[7].Shift-0.05) > 0.03 || math.Abs(*got[7].Change-0.05) > 0.02 {
		t.Errorf("%v, %s", c, shown(got[7]))
	}
	for _, v := range judge(t, text(t, append(all, written{ID: "pairs", Group: "g", Better: "lower", Baseline: all[0].Candidate, Candidate: all[1].Candidate, Paired: true})), jsonl.Options{}) {
		if (v.Shift == 0) != (v.ID == "pairs") {
			t.Errorf("shift of %s", shown(v))
		}
	}
	all[3].History = all[3].History[1:] // now the runs cannot be matched
	got = judge(t, text(t, all), jsonl.Options{})
	if c := classes(got); c[jsonl.Regressed] != 0 || got[7].Shift != 0 || math.Abs(*got[7].Change-0.10) > 0.05 {
		t.Errorf("not aligned: %v, %s", c, shown(got[7]))
	}
}

// TestLimits: what is too much is refused before it takes memory.
func TestLimits(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"keep fewer values of each run": `{"id": "a", "better": "lower", "history": [[` + strings.Repeat("         ", jsonl.MaxLine/9) + `1]]}`,
		"more than 100000 values":       `{"id": "a", "better": "lower", "history": [[` + strings.Repeat("1,", jsonl.MaxValues) + `1]]}`,
		"and runs: keep the newest":     `{"id": "a", "better": "lower", "history": [` + strings.Repeat("[],", jsonl.MaxValues) + `[]]}`,
		"more than 1000 bytes":          `{"id": "` + strings.Repeat("x", jsonl.MaxName+1) + `", "better": "lower"}`,
	} {
		var set jsonl.Set
		err := set.Read(strings.NewReader(line), "lines")
		if err == nil || !strings.Contains(err.Error(), name) || len(err.Error()) > 500 {
			t.Errorf("%s: %.600v", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range 20 {
		f.Add([]byte(text(f, []written{random(rng, i)})))
	}
	for _, s := range []string{`{}`, `{"id":"a","better":"lower","history":[[1e5,-0.5E-3,null],null,[]],"candidate":null,"paired":false,"group":null}`,
		`{"id":"\u0061\ud800","id":1}`, `{"id":"a\`, `[`, "\xff", `{"history":[[01]]}`, `{"candidate":[1.]}`, `{"paired":truefalse}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got, err := jsonl.Parse(line)
		if err != nil {
			var refused *jsonl.Error
			if !errors.As(err, &refused) || refused.Column < 1 || refused.Column > len(line)+1 || len(refused.Message) > 2000 || !strings.Contains(refused.Message, ": ") {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		// What is accepted is JSON, and encoding/json reads the same.
		var want written
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&want); err != nil {
			t.Fatalf("accepted, but %v", err)
		}
		if got.ID != want.ID || got.Group != want.Group || got.HigherIsBetter != (want.Better == "higher") || got.Paired != want.Paired || len(got.History) != len(want.History) ||
			!same(got.Baseline, floats(want.Baseline)) || !same(got.Candidate, floats(want.Candidate)) {
			t.Fatalf("%+v, want %+v", got, want)
		}
		for i, run := range got.History {
			if !same(run, floats(want.History[i])) {
				t.Fatalf("run %d: %v", i, run)
			}
		}
		var set jsonl.Set
		if !bytes.Contains(line, []byte("\n")) {
			if err := set.Read(bytes.NewReader(line), "lines"); err != nil || set.Len() != 1 || set.Judge()[0].Class == "" {
				t.Fatal(err)
			}
		}
	})
}

func same(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
}

// TestGroupInStages: lines of a group that have as many pairs as all stages take are
// judged as they would have been measured, each with the pairs that were used, of large
// losses the early ones; a group with fewer is judged by all of them.
func TestGroupInStages(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 1))
	pairs := func(n int) (all []written) {
		for i := range 40 {
			w := written{ID: fmt.Sprint(i), Group: "g", Better: "lower", Paired: true}
			for range n {
				base, head := 100*math.Exp(0.01*rng.NormFloat64()), 100*math.Exp(0.01*rng.NormFloat64())
				if i < 2 {
					head *= 1.1
				}
				w.Baseline, w.Candidate = append(w.Baseline, &base), append(w.Candidate, &head)
			}
			all = append(all, w)
		}
		return all
	}
	used := 0
	for i, v := range judge(t, text(t, pairs(35)), jsonl.Options{}) {
		if want := i < 2; (v.Class == jsonl.Regressed) != want || want && (v.Pairs != 10 || v.N != 8) || v.Pairs < 2 || v.Need != 0 {
			t.Errorf("%d: %s", i, shown(v))
		}
		used += v.Pairs
	}
	if used > 40*10 {
		t.Errorf("%d pairs of 40 cells were used", used)
	}
	for i, v := range judge(t, text(t, pairs(8)), jsonl.Options{}) {
		if (v.Class == jsonl.Regressed) != (i < 2) || v.N != 8 || v.Pairs != 0 {
			t.Errorf("8 pairs, %d: %s", i, shown(v))
		}
	}
}
