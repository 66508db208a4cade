package analysis_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite/analysis"
)

// TestRecheck: what a run measured under one configuration is held against another.
func TestRecheck(t *testing.T) {
	t.Parallel()
	const variants = ", variants: [{compute: float32, storage: bfloat16}]}"
	cell := must(t, "fidelity: {tolerance: 1"+variants).Plan().Cells[0]
	measured := func(tolerance string, different float64) bench.Result {
		sample := func(metric string, value float64) bench.Sample {
			return bench.Sample{Metric: metric, Values: []float64{0, value}}
		}
		return bench.Result{Cell: cell, Outcome: bench.Passed, Context: map[string]string{"tolerance": tolerance},
			Samples: []bench.Sample{sample("different_parameters", different), sample("max_difference", 0.01), sample("degrees", 0.5)}}
	}
	loose, off := measured("1", 0), measured("1e-09", 7)
	for name, c := range map[string]struct {
		run      bench.Result
		judge    string
		err, say string // "" is none
	}{
		"the same":                               {loose, "level: fail\nfidelity: {tolerance: 1" + variants, "", ""},
		"a tolerance that the numbers are in":    {loose, "level: fail\nfidelity: {tolerance: 0.01" + variants, "", ""},
		"a smaller tolerance":                    {loose, "level: fail\nfidelity: {tolerance: 1.0e-9" + variants, "", `by the tolerance "1", and that of the configuration is 1e-09`},
		"a level that gates":                     {off, "level: fail\nfidelity: {tolerance: 1.0e-9" + variants, "parameters differ by more than the tolerance", ""},
		"a level that informs":                   {loose, "level: off\nfidelity: {tolerance: 1.0e-9" + variants, "", ""},
		"fewer degrees":                          {loose, "level: off\nfidelity: {max_degrees: 0.4" + variants, "degrees from a right angle", ""},
		"another suite's cell is not a business": {loose, "level: fail\npacking: {}", "", ""},
		"no count of parameters that differ":     {bench.Result{Cell: cell, Outcome: bench.Passed}, "level: fail\nfidelity: {tolerance: 1" + variants, "differ by more", ""},
		"another combination than the gate's":    {off, "level: fail\nfidelity: {variants: [{compute: float64, storage: float64}, {compute: float32, storage: bfloat16}]}", "", ""},
		"the combination of another checkpoint":  {off, "level: fail\nfidelity: {name: x" + variants, "", ""},
	} {
		file, err := config.Parse("f.yaml", []byte("version: 1\nsuites:\n  - name: a\n    kind: analysis\n"+indent(c.judge)))
		if err != nil {
			t.Fatal(err)
		}
		check, err := analysis.Recheck(&file.Suites[0])
		if err != nil {
			t.Fatal(err)
		}
		say, err := check(&c.run)
		if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) || (say != "") != (c.say != "") || !strings.Contains(say, c.say) {
			t.Errorf("%s: %v and %q, want %q and %q", name, err, say, c.err, c.say)
		}
	}
}
