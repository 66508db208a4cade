package casefile_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
)

// TestLint has one case for each rule and those just within its limit; what is
// said stands in testdata/lint.txt.
func TestLint(t *testing.T) {
	t.Parallel()
	ops := func(times ...float64) []casefile.Operator {
		var list []casefile.Operator
		for i, time := range times {
			list = append(list, casefile.Operator{Name: string(rune('a' + i)), TotalTimeS: time, NumCalls: 1})
		}
		return list
	}
	device := func(c *casefile.Case, typ, name string) {
		switch c.Type = typ; typ {
		case casefile.Text:
			c.UserInput = map[string]any{"device": name}
		case casefile.Video:
			c.Video = map[string]any{"device": name}
		}
	}
	tests := []struct {
		name     string
		change   func(*casefile.Case)
		findings int
	}{
		{"fine", func(*casefile.Case) {}, 0},
		{"tolerances", func(c *casefile.Case) {
			c.InitialTolerance, c.BaselineTolerance, c.OperatorTolerance = 0.26, 0.59, 1.02
		}, 3},
		{"tolerance-creep", func(c *casefile.Case) { c.BaselineTolerance, c.BaselineTimeS = 0.59, 0.63 }, 1},
		{"tolerance-alone", func(c *casefile.Case) { c.BaselineTolerance, c.InitialTimeS = 0.59, 0 }, 1},
		{"tolerances-limit", func(c *casefile.Case) {
			c.InitialTolerance, c.BaselineTolerance, c.OperatorTolerance = 0.25, 0.25, 0.25
		}, 0},
		{"apart", func(c *casefile.Case) { c.BaselineTimeS = 1.5 }, 1},
		{"apart-below", func(c *casefile.Case) { c.BaselineTimeS = 0.5 }, 1},
		{"hardly", func(c *casefile.Case) { c.BaselineTimeS = 1.36 }, 1},
		{"enough", func(c *casefile.Case) { c.BaselineTimeS = 1.34 }, 0},
		{"points", func(c *casefile.Case) { c.InitialTolerance, c.BaselineTolerance = 0, 0 }, 0},
		{"points-apart", func(c *casefile.Case) { c.InitialTolerance, c.BaselineTolerance, c.BaselineTimeS = 0, 0, 1.001 }, 1},
		{"no-reference", func(c *casefile.Case) { c.InitialTimeS, c.BaselineTimeS = 0, 0 }, 1},
		{"one-reference", func(c *casefile.Case) { c.InitialTimeS = 0 }, 0},
		{"too-much", func(c *casefile.Case) { c.Operators = ops(0.9, 0.102) }, 1},
		{"too-much-for-both", func(c *casefile.Case) { c.BaselineTimeS, c.Operators = 1.2, ops(0.9, 0.4) }, 1},
		{"too-much-for-both-turned", func(c *casefile.Case) { c.BaselineTimeS, c.Operators = 0.9, ops(0.9, 0.4) }, 1},
		{"refreshed", func(c *casefile.Case) { c.BaselineTimeS, c.Operators = 1.1, ops(0.9, 0.15) }, 1},
		{"refreshed-faster", func(c *casefile.Case) { c.BaselineTimeS, c.Operators = 0.85, ops(0.6, 0.2) }, 0},
		{"too-much-for-baseline", func(c *casefile.Case) { c.InitialTimeS, c.Operators = 0, ops(0.9, 0.102) }, 1},
		{"rounded", func(c *casefile.Case) { c.Operators = ops(0.9, 0.1009) }, 0},
		{"little", func(c *casefile.Case) { c.Operators = ops(0.4, 0.09) }, 1},
		{"little-of-baseline", func(c *casefile.Case) { c.BaselineTimeS, c.Operators = 0.9, ops(0.4, 0.3) }, 1},
		{"little-of-top", func(c *casefile.Case) { c.OperatorTopN, c.Operators = 1, ops(0.4, 0.3) }, 1},
		{"enough-of-it", func(c *casefile.Case) { c.Operators = ops(0.5, 0.3) }, 0},
		{"unsorted", func(c *casefile.Case) { c.Operators = ops(0.1, 0.4, 0.1, 0.3) }, 1},
		{"duplicate", func(c *casefile.Case) { c.Operators = ops(0.5, 0.4); c.Operators[1].Name = "a" }, 1},
		{"no-operators", func(c *casefile.Case) { c.Operators = nil }, 1},
		{"huge", func(c *casefile.Case) { c.BaselineTimeS, c.Operators = 1e300, ops(1.1e300) }, 2},
		{"device", func(c *casefile.Case) { device(c, casefile.Text, "ATLAS_800_A3_752T_128G_DIE") }, 0},
		{"device-slip", func(c *casefile.Case) { device(c, casefile.Text, "ATLAS_800_A3_752T_128G_DYE") }, 1},
		{"device-other", func(c *casefile.Case) { device(c, casefile.Video, "cuda:0\n") }, 1},
		{"device-none", func(c *casefile.Case) { device(c, casefile.Video, "") }, 1},
		{"device-of-command", func(c *casefile.Case) { device(c, casefile.Command, "") }, 0},
		{"device-of-engine", func(c *casefile.Case) { device(c, casefile.Text, "cpu_parallel") }, 0},
	}
	var all strings.Builder
	for _, test := range tests {
		c := &casefile.Case{Path: test.name + ".json", Name: test.name, InitialTimeS: 1, BaselineTimeS: 1, InitialTolerance: 0.1, BaselineTolerance: 0.2,
			OperatorTopN: 10, OperatorTolerance: 0.1, Operators: ops(0.5, 0.3, 0.1)}
		test.change(c)
		findings := casefile.Lint([]*casefile.Case{c})
		if len(findings) != test.findings {
			t.Errorf("%s: got %d findings, want %d: %v", test.name, len(findings), test.findings, findings)
		}
		for _, f := range findings {
			all.WriteString(f.String() + "\n")
		}
	}
	golden(t, "testdata/lint.txt", all.String())
}
