package cases_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/cases"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
)

const recorded = `{"name": "a__b", "description": "d", "initial_time_s": 0.5, "baseline_time_s": 0.4, "initial_tolerance": 0.2, "baseline_tolerance": 0.3,
 "operator_top_n": 3, "operator_tolerance": 0.15, "operators": [{"name": "mm", "total_time_s": 0.3, "num_calls": 7}, {"name": "add", "total_time_s": 0.1}]}`

// TestExpect: what a case file records, under the suite's policy, read without
// the host that measures.
func TestExpect(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"cases/a__b.json":  recorded,
		"cases/new.json":   `{"name": "new", "description": "n"}`,
		"cases/wrong.json": "{",
	})
	read := func(body string) []bench.Expected {
		t.Helper()
		list, err := cases.Expect(parse(t, "    cases: cases\n    preset: msmodeling\n"+body), dir)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	baseline := bench.Reference{Name: "baseline", Value: 0.4, Tolerance: 0.3, MaxIncrease: new(0.05), Implied: true}
	initial := bench.Reference{Name: "initial", Value: 0.5, Tolerance: 0.2}
	want := []bench.Expected{
		{Cell: "a__b", Description: "d", Metric: "total_time_s", References: []bench.Reference{baseline, initial}, NoReference: "warn", Drift: "fail",
			Operators: bench.ExpectedOperators{TopN: 3, Tolerance: 0.15, MinShare: 0.01, Level: "fail",
				Entries: []bench.Entry{{Name: "mm", Total: 0.3, Calls: 7}, {Name: "add", Total: 0.1}}}},
		{Cell: "new", Description: "n", Metric: "total_time_s", NoReference: "warn", Drift: "fail",
			Operators: bench.ExpectedOperators{TopN: 10, Tolerance: 0.1, MinShare: 0.01, Level: "fail"}},
	}
	if diff := cmp.Diff(want, read("")); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	for i := range want {
		want[i].Host, want[i].Exact, want[i].NoReference, want[i].Drift = "lab", true, "fail", "off"
		want[i].Operators.Level, want[i].Operators.MinShare = "warn", 0.025
	}
	want[0].References = want[0].References[1:]
	if diff := cmp.Diff(want, read("    host: lab\n    exact: true\n    references: [initial]\n    no_reference: fail\n    drift: off\n    operators: {level: warn, min_share: 2.5%}\n")); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
	want[0].References = []bench.Reference{baseline, initial} // a judge on another host has no programs
	if diff := cmp.Diff(want, read("    host: lab\n    exact: true\n    dir: nowhere\n    no_reference: fail\n    drift: off\n    operators: {level: warn, min_share: 2.5%}\n")); diff != "" {
		t.Errorf("without dir (-want +got):\n%s", diff)
	}
	if _, err := cases.Expect(parse(t, "    cases: nowhere\n"), dir); err == nil || !strings.HasPrefix(err.Error(), "accelgate.yaml:5:12: suites[0].cases: ") {
		t.Errorf("no folder: %v", err)
	}
	one, err := casefile.Parse("a__b.json", []byte(recorded))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(read("")[0], cases.Expected([]*casefile.Case{one})[0]); diff != "" {
		t.Errorf("Expected() (-Expect +Expected):\n%s", diff)
	}
}

func TestFolderOf(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]cases.Folder{
		"    cases: sub/cases\n    host: lab\n    dir: not-on-this-machine\n": {Host: "lab", References: []string{"initial", "baseline"}},
		"    cases: sub/cases\n    references: [initial]\n":                   {References: []string{"initial"}},
	} {
		want.Path = filepath.FromSlash("/x/sub/cases")
		got, err := cases.FolderOf(parse(t, body), filepath.FromSlash("/x"))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", body, err, diff)
		}
	}
	if _, err := cases.FolderOf(parse(t, "    exact: true\n"), "/x"); err == nil {
		t.Error("without cases: no error")
	}
}

func TestNameOf(t *testing.T) {
	t.Parallel()
	p := cases.Pair{Name: "a"}
	for _, c := range []struct {
		cell bench.Cell
		want string
		ok   bool
	}{
		{cases.Cell("a__b"), "a__b", true}, {p.BaselineCell(), "", false}, {bench.Cell{Raw: "a"}, "", false},
		{bench.Cell{Params: []bench.Param{{Key: "model", Value: "a"}}}, "", false}, {bench.Cell{}, "", false},
	} {
		if got, ok := cases.NameOf(c.cell); got != c.want || ok != c.ok {
			t.Errorf("%+v: %q, %v", c.cell, got, ok)
		}
	}
}
