package measure

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/gate"
)

// budgets returns the budgets of all suites by host; nil where no suite has any.
func budgets(file *config.File) (func(host string) []gate.Budget, error) {
	type budget struct {
		gate.Budget
		selection
	}
	var all []budget
	for i := range file.Suites {
		s := &file.Suites[i]
		for _, b := range s.Budgets {
			of := selectionOf(b.When)
			all = append(all, budget{gate.Budget{Suite: s.Name, Metric: b.Metric, When: of.String(), Loss: float64(b.Loss),
				Selects: func(c bench.Cell) bool { return c.Suite == s.Name && of.selects(c) }}, of})
		}
		if len(s.Budgets) > 0 && file.Policy.Compat != "" {
			return nil, s.Errorf("budgets", "policy.compat: %s has no budgets: remove one of the two", file.Policy.Compat)
		}
	}
	if all == nil {
		return nil, nil
	}
	return func(host string) (list []gate.Budget) {
		for i := range all {
			if all[i].of(host) {
				list = append(list, all[i].Budget)
			}
		}
		return list
	}, nil
}

// checkBudgets refuses budgets that nothing in the suite can meet.
func (p *Plan) checkBudgets(s *config.Suite, metrics []bench.Metric, cells []bench.Cell) error {
	for i := range s.Budgets {
		b, path := &s.Budgets[i], fmt.Sprintf("budgets[%d]", i)
		m, err := metricOf(s, path, b.Metric, metrics)
		if err != nil {
			return err
		}
		if m.Exact {
			return s.Errorf(path+".metric", "%s must be equal, so it has no budget: use another metric, or remove the entry", m.Name)
		}
		of := selectionOf(b.When)
		if err := p.checkSelection(s, path, &of, cells); err != nil {
			return err
		}
	}
	return nil
}
