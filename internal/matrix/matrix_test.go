package matrix_test

import (
	"strings"
	"testing"
	"testing/quick"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/matrix"
)

func models() matrix.Spec {
	return matrix.Spec{
		Suite: "s",
		Axes: []matrix.Axis{
			{Key: "model", Values: []string{"m1", "m2"}},
			{Key: "backend", Values: []string{"cpu", "cuda"}},
			{Key: "feature", Values: []string{"pp512"}},
		},
		Sweeps: []matrix.Sweep{
			{Env: "KV_CACHE_DTYPE", Values: []string{"f16", "q8_0"}},
			{Env: "FUSED", Values: []string{"1"}},
		},
	}
}

func ids(t *testing.T, s matrix.Spec) []string {
	t.Helper()
	cells, err := s.Expand()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, c := range cells {
		ids = append(ids, c.ID())
	}
	return ids
}

func TestExpandOrder(t *testing.T) {
	s := models()
	s.Axes[0].Values = []string{"m1"}
	want := []string{
		"m1__cpu__pp512__baseline", "m1__cpu__pp512__KV_CACHE_DTYPE=f16", "m1__cpu__pp512__KV_CACHE_DTYPE=q8_0", "m1__cpu__pp512__FUSED=1",
		"m1__cuda__pp512__baseline", "m1__cuda__pp512__KV_CACHE_DTYPE=f16", "m1__cuda__pp512__KV_CACHE_DTYPE=q8_0", "m1__cuda__pp512__FUSED=1",
	}
	if diff := cmp.Diff(want, ids(t, s)); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
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
	if diff := cmp.Diff(want, ids(t, s)); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
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
	check("backend has no values", func(s *matrix.Spec) { s.Axes[1].Values = nil })
	check(`model has "m1" twice`, func(s *matrix.Spec) { s.Axes[0].Values = []string{"m1", "m1"} })
	check("feature has an empty value", func(s *matrix.Spec) { s.Axes[2].Values = []string{""} })
	check("FUSED has no values", func(s *matrix.Spec) { s.Sweeps[1].Values = nil })
	check(`exclude[0]: unknown key "modle"`, func(s *matrix.Spec) { s.Exclude = []matrix.Match{{"modle": "m1"}} })
	check("exclude[0]: is empty", func(s *matrix.Spec) { s.Exclude = []matrix.Match{{}} })
	check("include[0]: feature is missing", func(s *matrix.Spec) {
		s.Include = []matrix.Match{{"model": "m", "backend": "b"}}
	})
	check("at most one variable", func(s *matrix.Spec) {
		s.Include = []matrix.Match{{"model": "m", "backend": "b", "feature": "f", "FUSED": "1", "KV_CACHE_DTYPE": "2"}}
	})
	check(`include[0]: unknown key "fetaure"`, func(s *matrix.Spec) {
		s.Include = []matrix.Match{{"model": "m", "backend": "b", "feature": "f", "fetaure": "1"}}
	})
	check("name the variable itself", func(s *matrix.Spec) {
		s.Include = []matrix.Match{{"model": "m", "backend": "b", "feature": "f", "env": "FUSED=1"}}
	})
	check("stands twice", func(s *matrix.Spec) {
		s.Include = []matrix.Match{{"model": "m1", "backend": "cpu", "feature": "pp512"}}
	})
	check("more than 1000000", func(s *matrix.Spec) {
		many := make([]string, 2000)
		for i := range many {
			many[i] = strings.Repeat("x", i+1)
		}
		s.Axes[0].Values, s.Axes[1].Values = many, many
	})
}

func TestFilter(t *testing.T) {
	cells, err := models().Expand()
	if err != nil {
		t.Fatal(err)
	}
	f := matrix.Filter{Only: []string{"m1__*", "m2__cpu__pp512__baseline"}, Skip: []string{"*=*"}}
	selected, others, err := f.Split(cells)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range selected {
		got = append(got, c.ID())
	}
	want := []string{"m1__cpu__pp512__baseline", "m1__cuda__pp512__baseline", "m2__cpu__pp512__baseline"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("selected (-want +got):\n%s", diff)
	}
	if len(selected)+len(others) != len(cells) {
		t.Errorf("%d selected and %d others of %d cells", len(selected), len(others), len(cells))
	}
	if _, _, err := (matrix.Filter{Only: []string{"m9__*"}}).Split(cells); err == nil {
		t.Error("a pattern that matches nothing must be an error")
	}
}

// TestGlobAgainstRecursion compares the loop with the obvious definition.
func TestGlobAgainstRecursion(t *testing.T) {
	var slow func(p, s string) bool
	slow = func(p, s string) bool {
		switch {
		case p == "":
			return s == ""
		case p[0] == '*':
			return slow(p[1:], s) || s != "" && slow(p, s[1:])
		}
		return s != "" && (p[0] == '?' || p[0] == s[0]) && slow(p[1:], s[1:])
	}
	letters := func(picks []byte, alphabet string) string {
		var b strings.Builder
		for _, i := range picks[:min(len(picks), 12)] {
			b.WriteByte(alphabet[int(i)%len(alphabet)])
		}
		return b.String()
	}
	property := func(p, s []byte) bool {
		pattern, name := letters(p, "ab*?/["), letters(s, "ab/[")
		return matrix.Glob(pattern, name) == slow(pattern, name)
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 20000}); err != nil {
		t.Error(err)
	}
}

func BenchmarkExpand100k(b *testing.B) {
	values := func(n int, prefix string) []string {
		v := make([]string, n)
		for i := range v {
			v[i] = prefix + strings.Repeat("x", i)
		}
		return v
	}
	s := matrix.Spec{Axes: []matrix.Axis{
		{Key: "model", Values: values(100, "m")}, {Key: "backend", Values: values(10, "b")}, {Key: "feature", Values: values(100, "f")},
	}}
	for b.Loop() {
		cells, err := s.Expand()
		if err != nil || len(cells) != 100_000 {
			b.Fatal(len(cells), err)
		}
	}
}
