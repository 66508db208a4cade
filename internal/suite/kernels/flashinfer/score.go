package flashinfer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// BaselineAuthor is whose solutions upstream compares all others with.
const BaselineAuthor = "baseline"

// Score is how much faster a solution, or all of an author's, is than the
// baseline. It follows upstream's "report summary".
type Score struct {
	Name string `json:"name"` // of the solution or the author
	// Speedup is the mean over workloads of the baseline's latency by the
	// solution's; 0 for a solution with any failed trace. An author's is the
	// mean over definitions of the best solution's.
	Speedup     float64           `json:"speedup"`
	WinRate     float64           `json:"win_rate"`     // share of workloads in which it is faster
	SuccessRate float64           `json:"success_rate"` // 0 for a solution with any failed trace, else 1
	Definitions int               `json:"definitions"`
	Workloads   int               `json:"workloads"`
	Best        map[string]string `json:"best,omitempty"` // of an author, definition to solution
}

// Summary is what a dataset's traces add up to.
type Summary struct {
	Total     int     `json:"traces"`
	Passed    int     `json:"passed"`
	Failed    int     `json:"failed"`
	Solutions []Score `json:"solutions"` // in the dataset's order
	Authors   []Score `json:"authors"`   // fastest first
	// LeftOut names the definitions that have solutions, none of them the
	// baseline author's, in the dataset's order.
	LeftOut []string `json:"left_out,omitempty"`
}

// Summarize scores all solutions and authors against the author whose
// solutions are the baseline. A definition without one is left out. It is an
// error if one has several, or if a passed trace has no latency; the counts are valid
// then.
func Summarize(ds *Dataset, baseline string) (Summary, error) {
	var s Summary
	bySolution := map[string][]*Trace{}
	for _, t := range ds.Traces {
		if s.Total++; t.Evaluation.Status == Passed {
			s.Passed++
		}
		bySolution[t.Solution] = append(bySolution[t.Solution], t)
	}
	s.Failed = s.Total - s.Passed
	authors := map[string]*Score{}
	for _, d := range ds.Definitions {
		solutions := ds.SolutionsOf(d.Name)
		base, err := baselineOf(solutions, d.Name, baseline)
		if err != nil {
			return s, err
		}
		if base == nil {
			if len(solutions) > 0 {
				s.LeftOut = append(s.LeftOut, d.Name)
			}
			continue
		}
		best := map[string]Score{} // by author
		if err := scoreDefinition(solutions, base, bySolution, &s.Solutions, best); err != nil {
			return s, err
		}
		for author, score := range best {
			add(authors, author, d.Name, score)
		}
	}
	for _, a := range authors {
		n := float64(a.Definitions)
		a.Speedup, a.WinRate, a.SuccessRate = a.Speedup/n, a.WinRate/n, a.SuccessRate/n
		s.Authors = append(s.Authors, *a)
	}
	slices.SortFunc(s.Authors, func(a, b Score) int {
		return cmp.Or(cmp.Compare(b.Speedup, a.Speedup), cmp.Compare(a.Name, b.Name))
	})
	return s, nil
}

// add sums up what will be divided by the number of definitions.
func add(authors map[string]*Score, author, definition string, score Score) {
	a := authors[author]
	if a == nil {
		a = &Score{Name: author, Best: map[string]string{}}
		authors[author] = a
	}
	a.Speedup += score.Speedup
	a.WinRate += score.WinRate
	a.SuccessRate += score.SuccessRate
	a.Workloads += score.Workloads
	a.Definitions++
	a.Best[definition] = score.Name
}

// baselineOf returns the author's solution of a definition, nil if there is none.
func baselineOf(solutions []*Solution, definition, author string) (base *Solution, err error) {
	for _, s := range solutions {
		if s.Author != author {
			continue
		}
		if base != nil {
			return nil, fmt.Errorf(
				"definition %s has several solutions of the author %s, as %s and %s, and scores need one: remove the others, or name another author",
				quote(definition), quote(author), quote(base.Name), quote(s.Name))
		}
		base = s
	}
	return base, nil
}

// scoreDefinition appends the scores of a definition's solutions, and keeps
// each author's best.
func scoreDefinition(solutions []*Solution, base *Solution, traces map[string][]*Trace, all *[]Score, best map[string]Score) error {
	reference, err := latencies(traces[base.Name])
	if err != nil {
		return err
	}
	for _, s := range solutions {
		if s == base {
			continue
		}
		own, err := latencies(traces[s.Name])
		if err != nil {
			return err
		}
		score, ok := compareWith(s.Name, own, reference)
		if !ok {
			continue
		}
		*all = append(*all, score)
		if before, known := best[s.Author]; !known || score.Speedup > before.Speedup {
			best[s.Author] = score
		}
	}
	return nil
}

// measured is what the traces of a solution say.
type measured struct {
	tried  map[string]bool    // uuids
	best   map[string]float64 // lowest latency of a passed trace by uuid
	failed bool
}

func latencies(traces []*Trace) (measured, error) {
	m := measured{tried: map[string]bool{}, best: map[string]float64{}}
	for _, t := range traces {
		uuid := t.Workload.UUID
		m.tried[uuid] = true
		if t.Evaluation.Status != Passed {
			m.failed = true
			continue
		}
		if t.Evaluation.Performance == nil || t.Evaluation.Performance.LatencyMS <= 0 {
			return m, fmt.Errorf("%s: passed without a latency above 0, so it cannot be scored: remove the trace and measure again",
				t.Place)
		}
		latency := t.Evaluation.Performance.LatencyMS
		if before, known := m.best[uuid]; !known || latency < before {
			m.best[uuid] = latency
		}
	}
	return m, nil
}

// compareWith scores over the workloads that the baseline passed and the
// solution tried; there is no score without any.
func compareWith(name string, own, reference measured) (Score, bool) {
	score := Score{Name: name, Definitions: 1}
	wins := 0
	for _, uuid := range slices.Sorted(maps.Keys(reference.best)) {
		if !own.tried[uuid] {
			continue
		}
		score.Workloads++
		if own.failed {
			continue
		}
		ratio := reference.best[uuid] / own.best[uuid]
		score.Speedup += ratio
		if ratio > 1 {
			wins++
		}
	}
	if score.Workloads == 0 {
		return score, false
	}
	if !own.failed {
		score.SuccessRate = 1
		score.Speedup /= float64(score.Workloads)
		score.WinRate = float64(wins) / float64(score.Workloads)
	}
	return score, true
}
