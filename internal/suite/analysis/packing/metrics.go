package packing

import (
	"math"
	"slices"
)

// Metrics describes a packing. Loads are tokens and are those of all cells of
// all rows; R is the number of ranks. Names in JSON are mini_trainer's where it
// has the metric.
//
// Nothing is ever divided by zero. A packing without rows wastes nothing:
// balance, efficiencies and step efficiency are 1, all else is 0. Where there are rows
// but no tokens, balance and step efficiency are 1 as well, and efficiencies 0.
type Metrics struct {
	TotalMinibatches int `json:"total_minibatches"` // rows

	// Of each row with a load: the smallest load that is not 0, by the largest.
	// Idle ranks do not count, which is why a row with one busy rank of
	// eight is called balanced: see StepEfficiency.
	AvgRowBalanceRatio   float64 `json:"avg_row_balance_ratio"`
	WorstRowBalanceRatio float64 `json:"worst_row_balance_ratio"`
	RowBalanceStd        float64 `json:"row_balance_std"` // of the population

	AvgRowEfficiency  float64 `json:"avg_row_efficiency"` // mean over all rows of: sum of loads / (R * max)
	OverallEfficiency float64 `json:"overall_efficiency"` // sum of all loads / (rows * R * max)

	// The same again, under the names that mini_trainer had before.
	LoadBalanceRatio float64 `json:"load_balance_ratio"` // AvgRowBalanceRatio
	Efficiency       float64 `json:"efficiency"`         // OverallEfficiency
	LoadStd          float64 `json:"load_std"`           // RowBalanceStd * 1000

	// StepEfficiency is the share of the ranks' time that is work, if time
	// is cost and each row ends with its slowest rank: sum of costs / (R * SumRowMaxCost).
	StepEfficiency float64 `json:"step_efficiency"`
	IdleShare      float64 `json:"idle_share"`       // cells without load / all cells
	SumRowMax      int64   `json:"sum_row_max"`      // sum over rows of the largest load
	SumRowMaxCost  float64 `json:"sum_row_max_cost"` // the same of costs; SumRowMax if these are tokens

	LowerBoundRows    int `json:"lower_bound_rows"` // of the problem
	RowsOverBound     int `json:"rows_over_bound"`  // rows - LowerBoundRows
	OverCapacityCells int `json:"over_capacity_cells"`
	EmptyRows         int `json:"empty_rows"`  // rows without a sequence
	EmptyCells        int `json:"empty_cells"` // cells without a sequence
	LeftOut           int `json:"left_out"`    // sequences
}

// Measure returns the metrics of a packing that [Validate] accepts.
func Measure(p Problem, k Packing) Metrics {
	m := Metrics{
		TotalMinibatches: len(k.Rows), LowerBoundRows: p.LowerBound(), LeftOut: len(k.LeftOut),
		AvgRowEfficiency: 1, OverallEfficiency: 1,
	}
	m.RowsOverBound = m.TotalMinibatches - m.LowerBoundRows
	m.count(p, k)
	loads := k.Loads(p.Lengths)
	m.balance(loads)
	m.efficiency(p, loads)
	m.steps(p, k)
	m.LoadBalanceRatio, m.Efficiency, m.LoadStd = m.AvgRowBalanceRatio, m.OverallEfficiency, m.RowBalanceStd*1000
	return m
}

func (m *Metrics) count(p Problem, k Packing) {
	for _, row := range k.Rows {
		empty := 0
		for _, cell := range row {
			if len(cell) == 0 {
				empty++
			}
		}
		m.EmptyCells += empty
		if empty == p.Ranks {
			m.EmptyRows++
		}
	}
}

func (m *Metrics) balance(loads [][]int64) {
	var ratios []float64
	for _, row := range loads {
		minimum, maximum := int64(math.MaxInt64), int64(0)
		for _, load := range row {
			if load > 0 {
				minimum, maximum = min(minimum, load), max(maximum, load)
			}
		}
		if m.SumRowMax += maximum; maximum > 0 {
			ratios = append(ratios, float64(minimum)/float64(maximum))
		}
	}
	m.AvgRowBalanceRatio, m.WorstRowBalanceRatio = 1, 1
	if len(ratios) > 0 {
		m.AvgRowBalanceRatio, m.WorstRowBalanceRatio = mean(ratios), slices.Min(ratios)
		m.RowBalanceStd = deviation(ratios)
	}
}

func (m *Metrics) efficiency(p Problem, loads [][]int64) {
	if len(loads) == 0 {
		return
	}
	capacity := float64(p.Ranks) * float64(p.Max)
	var all int64
	idle := 0
	shares := make([]float64, len(loads))
	for i, row := range loads {
		var sum int64
		for _, load := range row {
			sum += load
			if load == 0 {
				idle++
			}
			if load > p.Max {
				m.OverCapacityCells++
			}
		}
		shares[i] = float64(sum) / capacity
		all += sum
	}
	m.AvgRowEfficiency = mean(shares)
	m.OverallEfficiency = float64(all) / (float64(len(loads)) * capacity)
	m.IdleShare = float64(idle) / (float64(len(loads)) * float64(p.Ranks))
}

func (m *Metrics) steps(p Problem, k Packing) {
	var total float64
	for _, row := range k.Rows {
		maximum := 0.0
		for _, cell := range row {
			cost := 0.0
			for _, index := range cell {
				cost += p.Cost.of(p.Lengths[index])
			}
			total += cost
			maximum = max(maximum, cost)
		}
		m.SumRowMaxCost += maximum
	}
	if m.StepEfficiency = 1; m.SumRowMaxCost > 0 {
		m.StepEfficiency = total / float64(p.Ranks) / m.SumRowMaxCost
	}
}

func mean(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func deviation(values []float64) float64 {
	center, sum := mean(values), 0.0
	for _, v := range values {
		sum += float64((v - center) * (v - center)) // not fused, to be alike everywhere
	}
	return math.Sqrt(sum / float64(len(values)))
}
