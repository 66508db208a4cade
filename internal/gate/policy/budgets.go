package policy

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/matrix"
)

// budgets returns the budgets of all suites by host; nil where no suite has any.
func budgets(file *config.File) (func(host string) []gate.Budget, error) {
	var all []selected[gate.Budget]
	for i := range file.Suites {
		s := &file.Suites[i]
		for _, b := range s.Budgets {
			of := matrix.WhenOf(b.When)
			all = append(all, selected[gate.Budget]{gate.Budget{Suite: s.Name, Metric: b.Metric, When: of.String(), Loss: float64(b.Loss),
				Selects: func(c bench.Cell) bool { return c.Suite == s.Name && of.Selects(c) }}, of})
		}
		if len(s.Budgets) > 0 && file.Policy.Compat != "" {
			return nil, s.Errorf("budgets", "policy.compat: %s has no budgets: remove one of the two", file.Policy.Compat)
		}
	}
	return byHost(all), nil
}

// selected is a rule of the gate, and the hosts and cells that it is for.
type selected[T any] struct {
	rule T
	matrix.When
}

// byHost returns the rules of each host; nil where there is no rule.
func byHost[T any](all []selected[T]) func(host string) []T {
	if all == nil {
		return nil
	}
	return func(host string) (rules []T) {
		for i := range all {
			if all[i].On(host) {
				rules = append(rules, all[i].rule)
			}
		}
		return rules
	}
}

// checkBudgets refuses budgets that nothing in the suite can meet.
func (h onHost) checkBudgets(s *config.Suite, metrics []bench.Metric, cells []bench.Cell) error {
	for i := range s.Budgets {
		b, path := &s.Budgets[i], fmt.Sprintf("budgets[%d]", i)
		m, err := metricOf(s, path, b.Metric, metrics)
		if err != nil {
			return err
		}
		if m.Exact {
			return s.Errorf(path+".metric", "%s must be equal, so it has no budget: use another metric, or remove the entry", m.Name)
		}
		of := matrix.WhenOf(b.When)
		if err := h.checkSelection(s, path, &of, cells); err != nil {
			return err
		}
	}
	return nil
}
