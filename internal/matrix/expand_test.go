package matrix_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/matrix"
)

// values are plain values of an axis.
func values(ids ...string) []matrix.Value {
	var all []matrix.Value
	for _, id := range ids {
		all = append(all, matrix.Value{ID: id})
	}
	return all
}

func axes() []matrix.Axis {
	return []matrix.Axis{{Key: "model", Values: values("m1", "m2")}, {Key: "backend", Values: values("cpu", "cuda")},
		{Key: "feature", Values: values("pp512")}}
}

func models() matrix.Spec {
	return matrix.Spec{
		Suite:  "s",
		Axes:   axes(),
		Sweeps: []matrix.Sweep{{Env: "KV_CACHE_DTYPE", Values: []string{"f16", "q8_0"}}, {Env: "FUSED", Values: []string{"1"}}},
	}
}

// one has a single combination and three sweeps, one of them without a
// default.
func one(mode matrix.Mode, pairs bool) matrix.Spec {
	return matrix.Spec{
		Axes: []matrix.Axis{{Key: "model", Values: values("m")}},
		Mode: mode, NoisePairs: pairs,
		Sweeps: []matrix.Sweep{
			{Env: "A", Values: []string{"0", "1"}, Default: "1"},
			{Env: "B", Values: []string{"x", "y"}, Default: "x"},
			{Env: "C", Values: []string{"7"}, Default: "8"},
		},
	}
}

func compile(t testing.TB, text string, axes []matrix.Axis) *matrix.Predicate {
	t.Helper()
	p, err := matrix.Compile(text, matrix.Facts{OS: "linux", Arch: "amd64", Label: "box", Vendors: []string{"nvidia"}}, axes)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func expand(t testing.TB, s matrix.Spec) []matrix.Point {
	t.Helper()
	points, err := s.Expand()
	if err != nil {
		t.Fatal(err)
	}
	return points
}

// lines show points: the id, then "~TWIN", "!SKIP" and "#TAG" where they are.
func lines(points []matrix.Point) []string {
	var all []string
	for _, p := range points {
		line := p.Cell.ID()
		if p.Partner != "" {
			line += " ~" + p.Partner
		}
		if p.Skip != "" {
			line += " !" + p.Skip
		}
		for _, tag := range p.Tags {
			line += " #" + tag
		}
		all = append(all, line)
	}
	return all
}

func TestExpand(t *testing.T) {
	check := func(name string, s matrix.Spec, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, lines(expand(t, s))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	order := models()
	order.Axes[0].Values = values("m1")
	check("order", order,
		"m1__cpu__pp512__baseline", "m1__cpu__pp512__KV_CACHE_DTYPE=f16", "m1__cpu__pp512__KV_CACHE_DTYPE=q8_0", "m1__cpu__pp512__FUSED=1",
		"m1__cuda__pp512__baseline", "m1__cuda__pp512__KV_CACHE_DTYPE=f16", "m1__cuda__pp512__KV_CACHE_DTYPE=q8_0", "m1__cuda__pp512__FUSED=1")
	check("no axis", matrix.Spec{}, "baseline")

	check("one at a time", one("", false), "m__baseline", "m__A=0", "m__B=y", "m__C=7")
	check("pairs", one(matrix.OneAtATime, true),
		"m__baseline", "m__A=0", "m__A=1 ~m__baseline", "m__B=x ~m__baseline", "m__B=y", "m__C=7")
	check("product", one(matrix.Product, false), "m__baseline", "m__C=7", "m__B=y__C=7", "m__A=0__C=7", "m__A=0__B=y__C=7")
	paired := one(matrix.Product, true)
	paired.Sweeps = paired.Sweeps[:2]
	check("product with a pair", paired, "m__baseline", "m__B=y", "m__A=0", "m__A=0__B=y", "m__A=1__B=x ~m__baseline")
	paired.Exclude = []matrix.Match{{"env": "baseline"}}
	check("pair without its plain cell", paired, "m__B=y", "m__A=0", "m__A=0__B=y", "m__A=1__B=x")

	skip := models()
	skip.Sweeps = skip.Sweeps[1:]
	skip.Skip = func(c matrix.Combination) string {
		if c.Get("backend").ID == "cuda" && c.Get("nothing").ID == "" {
			return "no GPU"
		}
		return ""
	}
	skip.When = compile(t, `model == "m2"`, skip.Axes)
	skip.Include = []matrix.Match{{"model": "m9", "backend": "cuda", "feature": "x", "FUSED": "1"}}
	check("skip", skip, "m2__cpu__pp512__baseline", "m2__cpu__pp512__FUSED=1", "m2__cuda__pp512__baseline !no GPU", "m9__cuda__x__FUSED=1 !no GPU")

	tagged := one(matrix.Product, true)
	tagged.Axes[0].Values[0].Tags = []string{"smoke", "gemma"}
	tagged.Sweeps = tagged.Sweeps[:2]
	tagged.Sweeps[0].Tags, tagged.Sweeps[1].Tags = []string{"slow"}, []string{"smoke", "b"}
	check("tags", tagged, "m__baseline #gemma #smoke", "m__B=y #b #gemma #smoke", "m__A=0 #gemma #slow #smoke",
		"m__A=0__B=y #b #gemma #slow #smoke", "m__A=1__B=x ~m__baseline #b #gemma #slow #smoke")

	applied := one(matrix.Product, false)
	applied.Sweeps[0].When = compile(t, `model == "other"`, applied.Axes)
	check("a sweep that does not apply", applied, "m__baseline", "m__C=7", "m__B=y__C=7")
}

func TestExcludeAndInclude(t *testing.T) {
	s := models()
	s.Exclude = []matrix.Match{
		{"model": "m2"},
		{"backend": "cuda", "KV_CACHE_DTYPE": "*"},
		{"env": matrix.Plain, "backend": "cpu"},
	}
	s.Include = []matrix.Match{
		{"model": "m2", "backend": "cuda", "feature": "tg128"},
		{"model": "m3", "backend": "npu", "feature": "tg128", "FUSED": "x=y"},
	}
	want := []string{
		"m1__cpu__pp512__KV_CACHE_DTYPE=f16", "m1__cpu__pp512__KV_CACHE_DTYPE=q8_0", "m1__cpu__pp512__FUSED=1",
		"m1__cuda__pp512__baseline", "m1__cuda__pp512__FUSED=1",
		"m2__cuda__tg128__baseline", "m3__npu__tg128__FUSED=x=y",
	}
	if diff := cmp.Diff(want, lines(expand(t, s))); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	p := one(matrix.Product, false)
	p.Exclude = []matrix.Match{{"A": "*"}, {"C": "7"}}
	p.Include = []matrix.Match{{"model": "n", "C": "9", "A": "2"}, {"model": "m", "B": "x"}, {"model": "n", "B": "x"}}
	want = []string{"m__baseline", "n__A=2__C=9", "m__B=x ~m__baseline", "n__B=x"}
	if diff := cmp.Diff(want, lines(expand(t, p))); diff != "" {
		t.Errorf("product (-want +got):\n%s", diff)
	}
}

func TestExpandErrors(t *testing.T) {
	check := func(want string, change func(*matrix.Spec)) {
		t.Helper()
		s := models()
		change(&s)
		_, err := s.Expand()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Expand() error = %v, want one with %q", err, want)
		}
	}
	include := func(m matrix.Match) func(*matrix.Spec) {
		return func(s *matrix.Spec) { s.Include = []matrix.Match{m} }
	}
	many := func(n int) (ids []string) {
		for i := range n {
			ids = append(ids, fmt.Sprint("v", i))
		}
		return ids
	}
	check("axis backend has no values", func(s *matrix.Spec) { s.Axes[1].Values = nil })
	check(`axis model has "m1" twice`, func(s *matrix.Spec) { s.Axes[0].Values = values("m1", "m1") })
	check("axis feature has an empty value", func(s *matrix.Spec) { s.Axes[2].Values = values("") })
	check("sweep FUSED has no values", func(s *matrix.Spec) { s.Sweeps[1].Values = nil })
	check(`axis "a-b": use letters`, func(s *matrix.Spec) { s.Axes[0].Key = "a-b" })
	check("axis tags: the word", func(s *matrix.Spec) { s.Axes[0].Key = "tags" })
	check("axis backend occurs twice", func(s *matrix.Spec) { s.Axes[0].Key = "backend" })
	check(`sweep "A=1" is not`, func(s *matrix.Spec) { s.Sweeps[0].Env = "A=1" })
	check("sweep model has the name", func(s *matrix.Spec) { s.Sweeps[0].Env = "model" })
	check("sweep FUSED has the name", func(s *matrix.Spec) { s.Sweeps[0].Env = "FUSED" })
	check(`unknown mode "both": use one-at-a-time or product`, func(s *matrix.Spec) { s.Mode = "both" })
	check("129 sweeps, more than 128", func(s *matrix.Spec) {
		for i := range 127 {
			s.Sweeps = append(s.Sweeps, matrix.Sweep{Env: fmt.Sprint("V", i), Values: []string{"1"}})
		}
	})
	check(`exclude[0]: unknown key "modl": did you mean "model"?`, func(s *matrix.Spec) { s.Exclude = []matrix.Match{{"modl": "m1"}} })
	check("exclude[0]: is empty", func(s *matrix.Spec) { s.Exclude = []matrix.Match{{}} })

	check("include[0]: feature is missing", include(matrix.Match{"model": "m", "backend": "b"}))
	cell := func(more ...string) matrix.Match {
		m := matrix.Match{"model": "m1", "backend": "cpu", "feature": "pp512"}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return m
	}
	check("at most one variable", include(cell("FUSED", "1", "KV_CACHE_DTYPE", "2")))
	check(`include[0]: unknown key "fetaure"`, include(cell("fetaure", "1")))
	check("name the variable itself", include(cell("env", "FUSED=1")))
	check("FUSED is empty", include(cell("FUSED", "")))
	check("occurs twice", include(cell()))
	check("FUSED is at its default: leave it out", func(s *matrix.Spec) {
		s.Mode, s.Sweeps[1].Default = matrix.Product, "1"
		s.Include = []matrix.Match{cell("FUSED", "1", "KV_CACHE_DTYPE", "2")}
	})

	check("axis backend: the axes up to it have more than 1000000 combinations", func(s *matrix.Spec) {
		s.Axes[0].Values, s.Axes[1].Values = values(many(2000)...), values(many(2000)...)
	})
	check("more than 1000000 cells", func(s *matrix.Spec) { s.Sweeps[0].Values = many(300_000) })
	check("more than 1000000 cells", func(s *matrix.Spec) { // 10^100 of them
		s.Mode, s.Sweeps = matrix.Product, nil
		for i := range 100 {
			s.Sweeps = append(s.Sweeps, matrix.Sweep{Env: fmt.Sprint("V", i), Values: many(10)})
		}
	})
	check(`sweep FUSED: when: at m1__cpu__pp512: line 1, column 1: `, func(s *matrix.Spec) {
		s.Sweeps[1].When = compile(t, `int(model) > 7`, s.Axes)
	})
	check(`when: "other == \"x\"" names the axis other`, func(s *matrix.Spec) {
		s.When = compile(t, `other == "x"`, []matrix.Axis{{Key: "other", Values: values("x")}})
	})
}

func TestUnique(t *testing.T) {
	a, b := bench.Cell{Suite: "a", Raw: "x"}, bench.Cell{Suite: "b", Raw: "x"}
	if err := matrix.Unique([]bench.Cell{a, {Raw: "y"}}); err != nil {
		t.Error(err)
	}
	if err := matrix.Unique([]bench.Cell{a, b}); err == nil || !strings.Contains(err.Error(), `suites "a" and "b"`) {
		t.Errorf("Unique() = %v, want both suites", err)
	}
}

// random makes a small matrix in which everything occurs.
func random(t testing.TB, r *rand.Rand) matrix.Spec {
	letters := func(prefix string) (ids []string) {
		for i := range 1 + r.IntN(3) {
			ids = append(ids, fmt.Sprint(prefix, []string{"", "_", "__", "=", "%"}[r.IntN(5)], i))
		}
		return ids
	}
	s := matrix.Spec{Suite: "s", Mode: []matrix.Mode{matrix.OneAtATime, matrix.Product}[r.IntN(2)], NoisePairs: r.IntN(2) == 0}
	for i := range r.IntN(4) {
		s.Axes = append(s.Axes, matrix.Axis{Key: fmt.Sprint("a", i), Values: values(letters("v")...)})
	}
	for i := range r.IntN(4) {
		sweep := matrix.Sweep{Env: fmt.Sprint("E", i), Values: letters("w")}
		if r.IntN(3) > 0 {
			sweep.Default = sweep.Values[r.IntN(len(sweep.Values))]
		}
		if len(s.Axes) > 0 && r.IntN(3) == 0 {
			sweep.When = compile(t, fmt.Sprintf("a0 %s %q", []string{"==", "!="}[r.IntN(2)], s.Axes[0].Values[0].ID), s.Axes)
		}
		s.Sweeps = append(s.Sweeps, sweep)
	}
	return s
}

func randomly(t *testing.T, check func(t *testing.T, r *rand.Rand, s matrix.Spec)) {
	t.Parallel()
	for seed := range uint64(500) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			check(t, r, random(t, r))
		})
	}
}

// swept are the variables of a cell, with unset ones at their defaults.
func swept(s matrix.Spec, c bench.Cell) string {
	var all []string
	for _, sweep := range s.Sweeps {
		v := c.Get(bench.EnvPrefix + sweep.Env)
		if v == "" && slices.Contains(sweep.Values, sweep.Default) {
			v = sweep.Default
		}
		all = append(all, v)
	}
	return strings.Join(all, "\x00")
}

// combination is the part of an id that the axes make.
func combination(s matrix.Spec, c bench.Cell) string {
	return bench.Cell{Params: c.Params[:len(s.Axes)]}.ID()
}

func TestNoTwoCellsRunTheSameUnlessTwins(t *testing.T) {
	randomly(t, func(t *testing.T, r *rand.Rand, s matrix.Spec) {
		ids, runs := make(map[string]bool), make(map[string]string)
		for _, p := range expand(t, s) {
			id, does := p.Cell.ID(), combination(s, p.Cell)+"\n"+swept(s, p.Cell)
			if ids[id] {
				t.Errorf("%s occurs twice", id)
			}
			if other, ok := runs[does]; ok && p.Partner != other || !ok && p.Partner != "" {
				t.Errorf("%s runs what %q runs, its partner is %q", id, other, p.Partner)
			}
			ids[id] = true
			if _, ok := runs[does]; !ok {
				runs[does] = id
			}
		}
	})
}

func TestPlainCellComesFirst(t *testing.T) {
	randomly(t, func(t *testing.T, r *rand.Rand, s matrix.Spec) {
		seen := make(map[string]bool)
		for _, p := range expand(t, s) {
			key := combination(s, p.Cell)
			if plain := p.Cell.Get("env") == matrix.Plain; plain == seen[key] {
				t.Errorf("%s: plain is %v, an earlier cell of its combination is %v", p.Cell.ID(), plain, seen[key])
			}
			seen[key] = true
		}
	})
}

func TestExcludedCellsAreAbsentAndNoOthers(t *testing.T) {
	randomly(t, func(t *testing.T, r *rand.Rand, s matrix.Spec) {
		all := expand(t, s)
		victim := all[r.IntN(len(all))].Cell.Params
		m := matrix.Match{}
		for _, p := range victim {
			if r.IntN(2) == 0 {
				m[strings.TrimPrefix(p.Key, bench.EnvPrefix)] = p.Value
			}
		}
		if len(m) == 0 {
			return
		}
		var want []string
		for _, p := range all {
			if !m.Selects(p.Cell) {
				want = append(want, p.Cell.ID())
			}
		}
		s.Exclude = []matrix.Match{m}
		var got []string
		for _, p := range expand(t, s) {
			got = append(got, p.Cell.ID())
		}
		if diff := cmp.Diff(want, got); diff != "" || len(want) == len(all) {
			t.Errorf("without %v (-want +got):\n%s", m, diff)
		}
	})
}

func TestProductSize(t *testing.T) {
	randomly(t, func(t *testing.T, r *rand.Rand, s matrix.Spec) {
		s.Mode, s.NoisePairs = matrix.Product, false
		want, allDefault := 1, true
		for i := range s.Sweeps {
			s.Sweeps[i].When = nil
			want *= len(s.Sweeps[i].Values)
			allDefault = allDefault && s.Sweeps[i].Default != ""
		}
		if !allDefault {
			want++
		}
		for _, a := range s.Axes {
			want *= len(a.Values)
		}
		if got := len(expand(t, s)); got != want {
			t.Errorf("%d cells, want %d", got, want)
		}
	})
}

// wide has 105,000 cells of four axes and twenty sweeps, each with the
// predicate that when makes.
func wide(when func(sweep int) *matrix.Predicate) matrix.Spec {
	numbered := func(prefix string, n int) (all []matrix.Value) {
		for i := range n {
			all = append(all, matrix.Value{ID: fmt.Sprint(prefix, i), Vars: map[string]string{"family": fmt.Sprint("family", i%4)}})
		}
		return all
	}
	s := matrix.Spec{Suite: "s", Axes: []matrix.Axis{{Key: "model", Values: numbered("m", 25)}, {Key: "backend", Values: numbered("b", 10)},
		{Key: "feature", Values: numbered("f", 10)}, {Key: "batch", Values: numbered("n", 2)}}}
	for i := range 20 {
		s.Sweeps = append(s.Sweeps, matrix.Sweep{Env: fmt.Sprint("TS_VARIABLE_", i), Values: []string{"0", "1"}, Default: "0", When: when(i)})
	}
	return s
}

// BenchmarkExpand100k compares the same 105,000 cells without predicates, with
// predicates over two axes, and with predicates over all axes, which are
// evaluated once per combination.
func BenchmarkExpand100k(b *testing.B) {
	four := wide(func(int) *matrix.Predicate { return nil }).Axes
	for _, c := range []struct{ name, format string }{
		{"plain", ""},
		{"two axes", `model.family != "family9" and not (backend startsWith "c%d")`},
		{"all axes", `model.family != "family9" and backend != "c%d" and feature not in ["a", "b"] and batch != "1"`},
	} {
		s := wide(func(i int) *matrix.Predicate {
			if c.format == "" {
				return nil
			}
			format := c.format
			if strings.Contains(format, "%") {
				format = fmt.Sprintf(format, i)
			}
			return compile(b, format, four)
		})
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if points, err := s.Expand(); err != nil || len(points) != 105_000 {
					b.Fatal(len(points), err)
				}
			}
		})
	}
}
