package suite_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/suite"
)

func TestProfile(t *testing.T) {
	t.Parallel()
	profiles := map[string]int{"smoke": 1, "all": 2}
	for _, c := range []struct {
		query suite.Query
		want  int
		err   string
	}{
		{suite.Query{}, 0, ""},
		{suite.Query{Profile: "smoke", Tags: []string{"a"}}, 1, ""},
		{suite.Query{Profile: "smok"}, 0, `no profile "smok": it has all, smoke`},
		{suite.Query{SkipTags: []string{"c"}}, 0, `no tag "c": it has a, b`},
	} {
		got, err := suite.Profile(c.query, profiles, []string{"a", "b"})
		if c.err == "" && (err != nil || got != c.want) || c.err != "" && (err == nil || err.Error() != c.err) {
			t.Errorf("%+v: %v, %v, want %v, %q", c.query, got, err, c.want, c.err)
		}
	}
	if _, err := suite.Profile(suite.Query{Profile: "x"}, map[string]int{}, nil); err == nil || !strings.Contains(err.Error(), "add profiles to it") {
		t.Errorf("without any profile: %v", err)
	}
}

func TestQueryWants(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want, skip, tags string
		wants            bool
	}{
		{"", "", "", true}, {"", "", "a", true}, {"a", "", "a b", true}, {"a c", "", "b c", true},
		{"a", "", "b", false}, {"a", "b", "a b", false}, {"", "b", "a", true},
	} {
		q := suite.Query{Tags: strings.Fields(c.want), SkipTags: strings.Fields(c.skip)}
		if got := q.Wants(strings.Fields(c.tags)); got != c.wants {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestUnset(t *testing.T) {
	t.Parallel()
	got := suite.Unset([]string{"B", "TS_*", "B"}, []string{"TS_A=1", "TS_B=2", "OTHER=3", "odd"})
	if diff := cmp.Diff([]string{"B", "TS_A", "TS_B"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
