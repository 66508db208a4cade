package cli_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestLevelsByLabel: a label makes numbers advisory if a user with write permission set it,
// and required whoever did.
func TestLevelsByLabel(t *testing.T) {
	t.Parallel()
	config := func(levels string) string {
		return fmt.Sprintf(expectingConfig, ", levels: ["+levels+"]") + "    limits: [{metric: tps, min: 1000000}]\n"
	}
	const slow, strict = "{label: slow-ok, level: advisory}", "{level: advisory}, {label: Strict, level: required}"
	for name, c := range map[string]struct {
		levels, login, label string
		advisory             bool
		warning              string
	}{
		"no label":                {slow, "", "", false, ""},
		"of a writer":             {slow, "alice", "slow-ok", true, ""},
		"of a writer, other case": {slow, "alice", "SLOW-ok", true, ""},
		"of a triager":            {slow, "tina", "slow-ok", false, "the label slow-ok is ignored: tina set it and has no write permission"},
		"another label":           {slow, "alice", "slow", false, ""},
		"required by nothing":     {strict, "", "", true, ""},
		"required by a writer":    {strict, "alice", "strict", false, ""},
		"required by a triager":   {strict, "tina", "strict", false, "tina set it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := changedStep(t, stepTokens["actions"], config(c.levels), map[string]string{"b": "b"})
			if c.login != "" {
				s.server.Label("octo/repo", 1, c.login, c.label)
			}
			s.run(t.Context())
			report := s.report()
			if strings.Contains(report, "**Advisory**: 1 finding does not block") != c.advisory || strings.Contains(report, "has a metric beyond its bounds") == c.advisory {
				t.Errorf("want advisory %t:\n%s\n%s", c.advisory, report, s.stderr.String())
			}
			if !strings.Contains(report, c.warning) {
				t.Errorf("no warning %q:\n%s", c.warning, report)
			}
		})
	}
}
