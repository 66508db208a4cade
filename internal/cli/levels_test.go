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
			if strings.Contains(report, "#### Excused") != c.advisory || strings.Contains(report, "has a metric beyond its bounds") == c.advisory {
				t.Errorf("want advisory %t:\n%s\n%s", c.advisory, report, s.stderr.String())
			}
			if !strings.Contains(report, c.warning) {
				t.Errorf("no warning %q:\n%s", c.warning, report)
			}
		})
	}
}

// TestPullRequestThatLoosensItsPolicy: a pull request that raises a budget, makes numbers
// advisory or quarantines a cell needs approval, and is judged without any of it.
func TestPullRequestThatLoosensItsPolicy(t *testing.T) {
	t.Parallel()
	config := func(more, loss string) string {
		return fmt.Sprintf(expectingConfig, more) + "    limits: [{metric: tps, min: 1000000}, {metric: tps, mean: " + loss + "}]\n"
	}
	s := changedStep(t, stepTokens["actions"], config(", improvement: fail", "1%"), map[string]string{
		"accelgate.yaml": config(", levels: [{level: advisory}]", "50%"),
		"quarantine.yml": "- {cell: m__c__f__baseline, owner: mallory, expires: 2026-01-02, reason: flaky}\n"})
	s.run(t.Context())
	report := s.report()
	for _, want := range []string{"This pull request changes what is checked** (4 changes)", "`quarantine.yml`", "`suites[s].limits[1].mean`", "`policy.levels[0].level`", "`policy.improvement`",
		"has a metric beyond its bounds"} {
		if !strings.Contains(report, want) {
			t.Errorf("the comment lacks %q:\n%s", want, report)
		}
	}
	for _, bad := range []string{"Advisory", "In quarantine"} {
		if strings.Contains(report, bad) {
			t.Errorf("the comment has %q:\n%s", bad, report)
		}
	}
}
