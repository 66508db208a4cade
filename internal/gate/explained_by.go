package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// Covariate is a metric that was observed beside a loss, such as the clock of a GPU, and was
// worse as well. It decides nothing.
type Covariate struct {
	Metric string  `json:"metric"`
	Unit   string  `json:"unit,omitempty"`
	Old    float64 `json:"old"` // median
	New    float64 `json:"new"`
	// Change is New/Old - 1 in percent; 0 where Old is 0.
	Change float64 `json:"change,omitempty"`
}

// minBeside is the relative change, in percent, below which a metric explains nothing.
const minBeside = 2

// maxBeside bounds the metrics that one loss names.
const maxBeside = 3

// explained adds to a loss which metrics of its cell may explain it: those that say from
// which change on they do (bench.Metric.Explains), and were worse by as much.
func explained(in *inputs, c cell, v Verdict) Verdict {
	if v.Metric == "" || !in.tool.Context || !v.loss() {
		return v
	}
	for i := range in.run.Metrics {
		m := &in.run.Metrics[i]
		if m.Explains <= 0 || !m.Informational || m.Name == v.Metric {
			continue
		}
		if b, ok := covariatesOf(m, c); ok {
			v.Evidence.Covariates = append(v.Evidence.Covariates, b)
		}
	}
	slices.SortStableFunc(v.Evidence.Covariates, func(a, b Covariate) int { return cmp.Compare(math.Abs(b.Change), math.Abs(a.Change)) })
	v.Evidence.Covariates = v.Evidence.Covariates[:min(len(v.Evidence.Covariates), maxBeside)]
	for _, b := range v.Evidence.Covariates {
		v.Reason = text.Reasons(v.Reason, b.String())
	}
	return v
}

// covariatesOf compares a metric with that of the pairs, or else of the reference.
func covariatesOf(m *bench.Metric, c cell) (b Covariate, ok bool) {
	now := c.got.Sample(m.Name)
	if now == nil {
		return b, false
	}
	b = Covariate{Metric: m.Name, Unit: m.Unit}
	if n := len(now.Base); n > 0 && n <= len(now.Values) {
		b.Old, b.New = stats.Median(now.Base), stats.Median(now.Values[len(now.Values)-n:])
	} else {
		if c.ref == nil || c.ref.Sample(m.Name) == nil {
			return b, false
		}
		b.Old, b.New = c.ref.Sample(m.Name).Median(), now.Median()
	}
	worse := b.Old - b.New
	if m.Better == bench.Lower {
		worse = -worse
	}
	if !bench.Finite(b.Old) || !bench.Finite(b.New) || worse < m.Explains || worse < minBeside/100.*math.Abs(b.Old) {
		return b, false
	}
	if b.Old != 0 {
		b.Change = 100 * (b.New - b.Old) / math.Abs(b.Old)
	}
	return b, true
}

// String says the change in words, such as "beside it, device_sm_clock_mhz was 12.1 % lower
// (1980 MHz before, 1740 MHz now)".
func (b Covariate) String() string {
	word, by := "higher", ""
	if b.New < b.Old {
		word = "lower"
	}
	if b.Change != 0 {
		by = fmt.Sprintf("%.1f %% ", math.Abs(b.Change))
	}
	value := func(v float64) string {
		s := strconv.FormatFloat(v, 'g', 4, 64)
		if b.Unit != "" {
			s += " " + text.Visible(b.Unit, maxName)
		}
		return s
	}
	return fmt.Sprintf("beside it, %s was %s%s (%s before, %s now)", text.Visible(b.Metric, maxName), by, word, value(b.Old), value(b.New))
}
