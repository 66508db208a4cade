package config

import "fmt"

// Budget is an entry of the budgets of a suite: what the geometric mean of a metric over a
// group of cells may lose.
type Budget struct {
	Metric string `yaml:"metric,required"`
	// When selects the cells of the group, as that of a [Limit] does.
	When map[string]string `yaml:"when"`
	// Loss is the change of the mean for the worse that blocks.
	Loss Percent `yaml:"loss,required"`
}

// budgets complains about budgets that cannot be meant.
func (d *decoder) budgets(s *Suite) {
	for i, b := range s.Budgets {
		path := fmt.Sprintf("budgets[%d]", i)
		if b.Loss == 0 {
			d.errs = append(d.errs, s.Errorf(path+".loss", "0%% is no limit that noise allows: write a percentage above 0%%"))
		}
		if b.When != nil && len(b.When) == 0 {
			d.errs = append(d.errs, s.Errorf(path+".when", emptyWhen))
		}
	}
}

const emptyWhen = "is empty: name an axis, a swept variable or host, or remove it"
