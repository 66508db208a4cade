package config

import (
	"fmt"
	"math"
)

// Fit is an entry of the fits of a suite: a straight line of a metric over an axis.
type Fit struct {
	Metric string `yaml:"metric,required"`
	// Over is the axis or swept variable.
	Over string `yaml:"over,required"`
	// Values are the numbers that values of the axis stand for which are no numbers.
	Values map[string]float64 `yaml:"values"`
	// Per is how many units of the axis the slope is per.
	Per *float64 `yaml:"per"`
	// When selects the cells of the fit, as that of a [Limit] does.
	When map[string]string `yaml:"when"`
	// Slope and Intercept limit the coefficients; nil limits nothing.
	Slope     *FitLimit `yaml:"slope"`
	Intercept *FitLimit `yaml:"intercept"`
}

// FitLimit limits a coefficient of a [Fit].
type FitLimit struct {
	// Change is the change for the worse that blocks.
	Change *Percent `yaml:"change"`
	// Min and Max bound the coefficient, in the metric's unit.
	Min *float64 `yaml:"min"`
	Max *float64 `yaml:"max"`
}

// fits complains about fits that cannot be meant.
func (d *decoder) fits(s *Suite) {
	for i, f := range s.Fits {
		path := fmt.Sprintf("fits[%d]", i)
		complain := func(path, format string, args ...any) {
			d.errs = append(d.errs, s.Errorf(path, format, args...))
		}
		if f.Slope == nil && f.Intercept == nil {
			complain(path, "limits nothing: add slope or intercept, as in slope: {change: 5%%}")
		}
		if f.Per != nil && !(*f.Per > 0 && !math.IsInf(*f.Per, 1)) {
			complain(path+".per", "%v is not above 0: write a number of units, such as 1000", *f.Per)
		}
		if f.When != nil && len(f.When) == 0 {
			complain(path+".when", emptyWhen)
		}
		for k, l := range []*FitLimit{f.Slope, f.Intercept} {
			key := []string{".slope", ".intercept"}[k]
			switch {
			case l == nil:
			case l.Change == nil && l.Min == nil && l.Max == nil:
				complain(path+key, "limits nothing: add change, min or max")
			case l.Change != nil && *l.Change == 0:
				complain(path+key+".change", "0%% is not a limit that noise allows: write a percentage above 0%%")
			case l.Min != nil && l.Max != nil && *l.Min > *l.Max:
				complain(path+key+".min", "%v is above max %v: swap them or correct one", *l.Min, *l.Max)
			}
		}
	}
}
