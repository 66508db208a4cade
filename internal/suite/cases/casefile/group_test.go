package casefile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
)

// loadOne loads a folder with one file.
func loadOne(t *testing.T, name, text string) []*casefile.Case {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := casefile.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		c.Path = filepath.Base(c.Path)
	}
	return list
}

// TestGroup reads the cases of a group in the order of the file.
func TestGroup(t *testing.T) {
	t.Parallel()
	list := loadOne(t, "g.json", `{"type": "group", "name": "g", "description": "together", "group_tolerance": null, "sub_cases": {
		"z/../1": {"description": "d", "baseline_tolerance": 0.3, "baseline_max_increase_pct": 0, "user_input": {"performance_model": ["analytic", "profiling"]}},
		"a": {"description": "d", "baseline_tolerance": 0.1, "baseline_max_increase_pct": null, "compilation_config": ["enable_multistream"]}}}`)
	var got []string
	for _, c := range list {
		increase := "none"
		if c.MaxIncrease != nil {
			increase = "some"
		}
		got = append(got, c.Name, c.Type, c.Group.Name, increase, casefile.Model(c.Type, c.UserInput))
	}
	want := []string{"z/../1", "text", "g", "some", "empirical", "a", "text", "g", "none", "analytic"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if g := list[0].Group; g.Tolerance != 0.1 || g.Own || len(g.Cases) != 2 {
		t.Errorf("got %+v", g)
	}
	if g := loadOne(t, "g.json", `{"type": "group", "name": "g", "sub_cases": {"a": {"description": "d"}}, "group_tolerance": 0}`)[0].Group; g.Tolerance != 0 || !g.Own {
		t.Errorf("a tolerance of 0 is lost: %+v", g)
	}
	for _, empty := range []string{"{}", "null"} {
		list := loadOne(t, "g.json", `{"type": "group", "name": "g", "sub_cases": `+empty+`}`)
		if len(list) != 1 || list[0].Type != casefile.Grouped || list[0].Name != "g" {
			t.Errorf("%s: got %+v", empty, list)
		}
	}
}

// TestGroupBounds refuses a group that no one wrote by hand.
func TestGroupBounds(t *testing.T) {
	t.Parallel()
	var cases []string
	for i := range 1001 {
		cases = append(cases, fmt.Sprintf(`"%d": {"description": "d"}`, i))
	}
	text := `{"type": "group", "name": "g", "sub_cases": {` + strings.Join(cases, ",") + "}}"
	const want = "g.json:1:45: sub_cases: has more than 1000 cases; split the group"
	if _, err := casefile.Parse("g.json", []byte(text)); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	text = strings.Replace(text, `"1000": {"description": "d"}`, `"999": {}`, 1)
	if _, err := casefile.Parse("g.json", []byte(strings.Replace(text, `,"999": {}`, "", 1))); err != nil {
		t.Error(err)
	}
}

func TestLintGroup(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	const operators = `, "operators": [{"name": "mm", "total_time_s": 1, "num_calls": 1}]`
	for _, text := range []string{
		`{"type": "group", "name": "g", "sub_cases": {}}`,
		`{"type": "group", "name": "g", "group_tolerance": 0.26, "sub_cases": {
			"a": {"description": "d", "baseline_time_s": 1, "baseline_tolerance": 0.3` + operators + `},
			"b.c": {"description": "d", "initial_time_s": 1` + operators + `}}}`,
		`{"type": "group", "name": "g", "sub_cases": {
			"a": {"description": "d", "baseline_time_s": 1, "baseline_max_increase_pct": 0.21` + operators + `},
			"b": {"description": "d", "baseline_time_s": 1, "baseline_tolerance": 0.1, "baseline_max_increase_pct": 0.1` + operators + `}}}`,
		`{"type": "group", "name": "g", "sub_cases": {
			"a": {"description": "d", "baseline_time_s": 1, "baseline_max_increase_pct": 0.05, "user_input": {"performance_model": "profiling"}` + operators + `}}}`,
		`{"name": "g", "description": "d", "initial_time_s": 1, "baseline_max_increase_pct": 0.05` + operators + `}`,
	} {
		for _, f := range casefile.Lint(loadOne(t, "g.json", text)) {
			all.WriteString(f.String() + "\n")
		}
	}
	golden(t, "testdata/lint_group.txt", all.String())
}

func TestEditGroup(t *testing.T) {
	t.Parallel()
	const before = `{
  "type": "group", "name": "g",
  "sub_cases": {
    "a": {
      "description": "d"
    },
    "b.c": {
      "description": "d",
      "baseline_time_s": 1.0
    }
  }
}
`
	fresh := casefile.Refresh{BaselineTimeS: new(2.0), Operators: []casefile.Operator{{Name: "mm", TotalTimeS: 1.5, NumCalls: 2}}}
	text, all := []byte(before), ""
	for _, name := range []string{"a", "b.c"} {
		edited, changes, err := casefile.Edit("g.json", name, text, fresh)
		if err != nil {
			t.Fatal(err)
		}
		text = edited
		for _, c := range changes {
			all += c.JSONPath + ": " + c.Old + " -> " + c.New + "\n"
		}
	}
	golden(t, "testdata/edit_group.txt", string(text)+all)
	const want = `refresh g.json: its sub_cases have no "x": measure the cases of this file`
	if _, _, err := casefile.Edit("g.json", "x", text, fresh); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
