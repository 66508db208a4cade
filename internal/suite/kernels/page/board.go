package page

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/report/chart"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
)

// unknownAuthor stands for solutions that the dataset does not have.
const unknownAuthor = "(unknown)"

// board is what the traces of a dataset add up to.
type board struct {
	ds       *flashinfer.Dataset
	baseline string // "" compares with references
	sections []*section
	authors  map[string]*author
	leftOut  []string // definitions without anything to compare with
}

// author is one row of the first table.
type author struct {
	Name      string
	Counts    map[string]int // of cases by status
	Total     int
	Median    float64 // of ratios; 0 without any
	Wins      float64 // share of workloads that are faster
	Workloads int     // that can be compared
	ratios    []float64
}

// section is a definition on a device.
type section struct {
	Definition, OpType, Hardware string
	Columns                      []*column
	Rows                         []*row
	MoreColumns, MoreRows        int
	against                      map[string]float64 // milliseconds of the baseline by workload
}

// column is a solution.
type column struct {
	Name, Author string
	ratios       []float64
}

// row is a workload.
type row struct {
	trace *flashinfer.Trace // any of the workload
	names []string          // of axes
	Cells []cell            // one a column
}

// cell is one case.
type cell struct {
	Tried, Passed, Fastest bool
	Status                 string
	MS, Ratio              float64 // Ratio is 0 if there is nothing to compare with
}

type place struct{ definition, hardware string }

func newBoard(ds *flashinfer.Dataset, baseline string) *board {
	b := &board{ds: ds, authors: map[string]*author{}}
	last := flashinfer.Last(ds.Traces)
	if slices.ContainsFunc(last, func(t *flashinfer.Trace) bool {
		return b.authorOf(t.Solution) == baseline && t.Evaluation.Status == flashinfer.Passed
	}) {
		b.baseline = baseline
	}
	groups, order := map[place][]*flashinfer.Trace{}, []place{}
	for _, t := range last {
		at := place{t.Definition, t.Evaluation.Environment.Hardware}
		if groups[at] == nil {
			order = append(order, at)
		}
		groups[at] = append(groups[at], t)
	}
	slices.SortFunc(order, func(x, y place) int {
		return cmp.Or(cmp.Compare(x.definition, y.definition), cmp.Compare(x.hardware, y.hardware))
	})
	for _, at := range order {
		b.section(at, groups[at])
	}
	for _, a := range b.authors {
		a.finish()
	}
	return b
}

func (b *board) over() string {
	if b.baseline == "" {
		return "the definitions' references"
	}
	return "the solutions of the author " + b.baseline
}

func (b *board) authorOf(solution string) string {
	if s := b.ds.Solution(solution); s != nil {
		return s.Author
	}
	return unknownAuthor
}

// section adds a definition on a device.
func (b *board) section(at place, traces []*flashinfer.Trace) {
	s := &section{Definition: at.definition, Hardware: at.hardware, against: map[string]float64{}}
	if d := b.ds.Definition(at.definition); d != nil {
		s.OpType = d.OpType
	}
	for _, t := range traces {
		if p := t.Evaluation.Performance; p != nil && b.baseline != "" && b.authorOf(t.Solution) == b.baseline && p.LatencyMS > 0 {
			s.against[t.Workload.UUID] = p.LatencyMS
		}
	}
	if b.baseline != "" && len(s.against) == 0 && !slices.Contains(b.leftOut, at.definition) {
		b.leftOut = append(b.leftOut, at.definition)
	}
	s.fill(b, traces)
	b.count(s, traces)
	s.bound()
	b.sections = append(b.sections, s)
}

// fill makes rows and columns.
func (s *section) fill(b *board, traces []*flashinfer.Trace) {
	columns, rows := map[string]int{}, map[string]int{}
	for _, t := range traces {
		if _, known := columns[t.Solution]; !known {
			columns[t.Solution] = len(s.Columns)
			s.Columns = append(s.Columns, &column{Name: t.Solution, Author: b.authorOf(t.Solution)})
		}
		if _, known := rows[t.Workload.UUID]; !known {
			rows[t.Workload.UUID] = len(s.Rows)
			s.Rows = append(s.Rows, &row{trace: t, names: slices.Sorted(maps.Keys(t.Workload.Axes))})
		}
	}
	for _, r := range s.Rows {
		r.Cells = make([]cell, len(s.Columns))
	}
	for _, t := range traces {
		i := columns[t.Solution]
		c := s.cell(t, b.baseline != "")
		s.Rows[rows[t.Workload.UUID]].Cells[i] = c
		if c.Ratio > 0 {
			s.Columns[i].ratios = append(s.Columns[i].ratios, c.Ratio)
		}
	}
}

func (s *section) cell(t *flashinfer.Trace, overBaseline bool) cell {
	c := cell{Tried: true, Status: string(t.Evaluation.Status)}
	p := t.Evaluation.Performance
	if t.Evaluation.Status != flashinfer.Passed || p == nil || p.LatencyMS <= 0 {
		return c
	}
	c.Passed, c.MS, c.Ratio = true, p.LatencyMS, p.SpeedupFactor
	if overBaseline {
		c.Ratio = s.against[t.Workload.UUID] / p.LatencyMS // 0 without a baseline
	}
	return c
}

// count adds the section's cases to the authors: by status, and the best ratio of
// each workload. A workload that no solution of an author passed has the ratio 0.
func (b *board) count(s *section, traces []*flashinfer.Trace) {
	for _, t := range traces {
		a := b.author(b.authorOf(t.Solution))
		a.Counts[string(t.Evaluation.Status)]++
		a.Total++
	}
	for _, r := range s.Rows {
		r.markFastest()
		if b.baseline != "" && s.against[r.trace.Workload.UUID] == 0 {
			continue
		}
		best := map[string]float64{}
		for i, c := range r.Cells {
			if c.Tried && (!c.Passed || c.Ratio > 0) {
				name := s.Columns[i].Author
				best[name] = max(best[name], c.Ratio)
			}
		}
		for name, ratio := range best {
			b.author(name).ratios = append(b.author(name).ratios, ratio)
		}
	}
}

func (r *row) markFastest() {
	fastest := math.Inf(1)
	for _, c := range r.Cells {
		if c.Passed {
			fastest = min(fastest, c.MS)
		}
	}
	for i, c := range r.Cells {
		r.Cells[i].Fastest = c.Passed && c.MS == fastest
	}
}

func (b *board) author(name string) *author {
	if b.authors[name] == nil {
		b.authors[name] = &author{Name: name, Counts: map[string]int{}}
	}
	return b.authors[name]
}

func (a *author) finish() {
	slices.Sort(a.ratios)
	a.Workloads = len(a.ratios)
	if a.Workloads == 0 {
		return
	}
	a.Median = stats.Median(a.ratios)
	a.Wins = a.above(1)
}

// above is the share of workloads whose ratio is above p.
func (a *author) above(p float64) float64 {
	i, _ := slices.BinarySearchFunc(a.ratios, p, func(r, p float64) int {
		if r > p {
			return 1
		}
		return -1
	})
	return float64(len(a.ratios)-i) / float64(len(a.ratios))
}

// curve is the share above p, for p from a tenth to ten, or as far as ratios go.
func (a *author) curve() chart.Curve {
	c := chart.Curve{Name: a.Name}
	if a.Workloads == 0 {
		return c
	}
	const steps = 80
	low, high := -1.0, 1.0
	if largest := a.ratios[a.Workloads-1]; largest > 10 {
		high = math.Log10(largest)
	}
	for i := range steps + 1 {
		p := math.Pow(10, low+(high-low)*float64(i)/steps)
		c.X, c.Y = append(c.X, p), append(c.Y, a.above(p))
	}
	return c
}

// ranked are the authors, those with the most workloads faster first.
func (b *board) ranked() []*author {
	all := slices.Collect(maps.Values(b.authors))
	slices.SortFunc(all, func(x, y *author) int {
		return cmp.Or(cmp.Compare(y.Wins, x.Wins), cmp.Compare(y.Median, x.Median), cmp.Compare(x.Name, y.Name))
	})
	return all
}

// statuses are those that occur, PASSED first.
func (b *board) statuses() []string {
	seen := map[string]bool{}
	for _, a := range b.authors {
		for status := range a.Counts {
			seen[status] = true
		}
	}
	passed := string(flashinfer.Passed)
	return slices.SortedFunc(maps.Keys(seen), func(x, y string) int {
		switch {
		case x == passed:
			return -1
		case y == passed:
			return 1
		}
		return cmp.Compare(x, y)
	})
}

// bound sorts rows by size, and keeps the fastest columns and the smallest workloads.
func (s *section) bound() {
	slices.SortStableFunc(s.Rows, func(x, y *row) int { return cmp.Compare(x.size(), y.size()) })
	keep := s.fastest()
	s.MoreColumns = len(s.Columns) - len(keep)
	columns := make([]*column, len(keep))
	for k, i := range keep {
		columns[k] = s.Columns[i]
	}
	for _, r := range s.Rows {
		cells := make([]cell, len(keep))
		for k, i := range keep {
			cells[k] = r.Cells[i]
		}
		r.Cells = cells
	}
	s.Columns = columns
	if more := len(s.Rows) - maxWorkloads; more > 0 {
		s.Rows, s.MoreRows = s.Rows[:maxWorkloads], more
	}
}

// size multiplies the axes of a workload, in logarithms.
func (r *row) size() (size float64) {
	for _, n := range r.trace.Workload.Axes {
		size += math.Log1p(float64(n))
	}
	return size
}

// fastest are the indices of the columns that are shown: most ratios of all first by
// the number of workloads that are the fastest, then by name.
func (s *section) fastest() []int {
	wins, order := make([]int, len(s.Columns)), make([]int, len(s.Columns))
	for i := range order {
		order[i] = i
		for _, r := range s.Rows {
			if r.Cells[i].Fastest {
				wins[i]++
			}
		}
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return cmp.Or(wins[y]-wins[x], len(s.Columns[y].ratios)-len(s.Columns[x].ratios), cmp.Compare(s.Columns[x].Name, s.Columns[y].Name))
	})
	return order[:min(len(order), maxSolutions)]
}
