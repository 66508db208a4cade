package suite_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite"
)

func TestSelect(t *testing.T) {
	t.Parallel()
	cell := func(id string) bench.Cell { return bench.Cell{Suite: "s", Raw: id} }
	tags := map[string][]string{"one": {"a"}, "two": {"a", "b"}, "three": nil}
	p := suite.Plan{Cells: []bench.Cell{cell("one"), cell("two"), cell("three")}, Tags: []string{"a", "b"},
		TagsOf: func(c bench.Cell) []string { return tags[c.ID()] },
		Profiles: map[string]func(bench.Cell) bool{
			"smoke": func(c bench.Cell) bool { return c.ID() != "two" },
			"all":   func(bench.Cell) bool { return true },
		}}
	for _, c := range []struct {
		query     suite.Query
		want, err string
	}{
		{suite.Query{}, "one two three", ""},
		{suite.Query{Profile: "smoke"}, "one three", ""},
		{suite.Query{Profile: "smoke", Tags: []string{"a"}}, "one", ""},
		{suite.Query{Tags: []string{"a", "b"}}, "one two", ""},
		{suite.Query{Tags: []string{"a"}, SkipTags: []string{"b"}}, "one", ""},
		{suite.Query{SkipTags: []string{"b"}}, "one three", ""},
		{suite.Query{Profile: "smok"}, "", `no profile "smok", but all, smoke`},
		{suite.Query{SkipTags: []string{"c"}}, "", `no tag "c", but a, b`},
	} {
		wants, err := p.Select(c.query)
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%+v: %v, want %q", c.query, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, cell := range p.Cells {
			if wants(cell) {
				got = append(got, cell.ID())
			}
		}
		if diff := cmp.Diff(strings.Fields(c.want), got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.query, diff)
		}
	}
	if _, err := (suite.Plan{}).Select(suite.Query{Profile: "x"}); err == nil || err.Error() != `no profile "x"` {
		t.Errorf("without any profile: %v", err)
	}
}

func TestUnset(t *testing.T) {
	t.Parallel()
	got := suite.Unset([]string{"B", "TS_*", "B"}, []string{"TS_A=1", "TS_B=2", "OTHER=3", "odd"})
	if diff := cmp.Diff([]string{"B", "TS_A", "TS_B"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
