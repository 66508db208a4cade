package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/stats"
)

// Cells of kernels have these parameters and metrics.
const (
	paramDefinition = "definition"
	paramSolution   = "solution"
	paramWorkload   = "workload"

	latency          = "latency_ms"
	referenceLatency = "reference_latency_ms"
	speedup          = "speedup_factor"
)

// kernel is a solution of a definition on a host, with what became of its
// workloads.
type kernel struct {
	host                 int
	definition, solution string
	workloads            int
	latency              geomean
	worst                *gate.Verdict // the largest loss of latency, nil where nothing was judged
	worstAt              string        // its workload
	blocking             []int         // cells by label, as in tally
	fixed                int
}

// kernels are those of all hosts.
type kernels struct {
	list   []kernel
	drifts []drift // hosts that seem to have drifted
}

// scanKernels groups the verdicts on cells of kernels; where there is none it
// costs a look at each result.
func (r *Report) scanKernels() {
	for i := range r.hosts {
		h := &r.hosts[i]
		s := kernelScan{host: i, own: map[string]own{}, at: map[[2]string]int{}, alike: map[string]int{}}
		for k := range h.Run.Results {
			s.place(&h.Run.Results[k])
		}
		if len(s.own) == 0 {
			continue
		}
		for rest := h.Comparison.Verdicts; len(rest) > 0; {
			n := 1
			for n < len(rest) && rest[n].Cell == rest[0].Cell {
				n++
			}
			s.cell(rest[:n])
			rest = rest[n:]
		}
		r.kernels.list = append(r.kernels.list, s.list...)
		if d := s.drift(h.Reference); d.seen() {
			r.kernels.drifts = append(r.kernels.drifts, d)
		}
	}
	slices.SortFunc(r.kernels.list, byStatus)
}

// kernelScan collects the kernels of one host.
type kernelScan struct {
	host   int
	list   []kernel
	own    map[string]own    // of the run, by cell
	at     map[[2]string]int // places in list, by definition and solution
	alike  map[string]int    // and by what the ids of a kernel's cells begin with
	judged []*gate.Verdict   // on latency, of cells in own
}

// own is a result of the run and the place of its kernel.
type own struct {
	*bench.Result
	kernel int
}

// family is what the ids of a kernel's cells begin with: an id ends in the
// workload, in which a slash is escaped.
func family(id string) string { return id[:strings.LastIndexByte(id, '/')+1] }

func (s *kernelScan) place(res *bench.Result) {
	key := [2]string{res.Cell.Get(paramDefinition), res.Cell.Get(paramSolution)}
	if key[0] == "" {
		return
	}
	i, known := s.at[key]
	if !known {
		i = len(s.list)
		s.at[key] = i
		s.list = append(s.list, kernel{host: s.host, definition: key[0], solution: key[1], blocking: make([]int, len(labels))})
	}
	id := res.Cell.ID()
	s.own[id] = own{res, i}
	s.alike[family(id)] = i
}

// of returns the kernel of a cell, nil where it is none. A cell that only the
// baseline has, which keeps no parameters, is of the kernel whose cells' ids
// begin alike.
func (s *kernelScan) of(id string) *kernel {
	if o, ok := s.own[id]; ok {
		return &s.list[o.kernel]
	}
	if i, ok := s.alike[family(id)]; ok && family(id) != "" {
		return &s.list[i]
	}
	return nil
}

// cell takes the verdicts on one cell.
func (s *kernelScan) cell(verdicts []gate.Verdict) {
	k := s.of(verdicts[0].Cell)
	if k == nil {
		return
	}
	k.workloads++
	worst := -1
	for i := range verdicts {
		v := &verdicts[i]
		if v.Blocks {
			if at := labelOf(v); worst < 0 || at < worst {
				worst = at
			}
		}
		k.fixed += stats.Indicator(v.Finding == gate.Fixed)
		if v.Metric == latency && ofSpeed(v) && !v.Undecided() {
			s.judge(k, v)
		}
	}
	if worst >= 0 {
		k.blocking[worst]++
	}
}

func (s *kernelScan) judge(k *kernel, v *gate.Verdict) {
	o, ok := s.own[v.Cell]
	if !ok {
		return
	}
	s.judged = append(s.judged, v)
	k.latency.add(math.Log(v.New / v.Old))
	if k.worst == nil || v.Delta < k.worst.Delta {
		k.worst, k.worstAt = v, o.Cell.Get(paramWorkload)
	}
}

// byStatus puts kernels first whose cells began to fail, then those with cells
// that no longer do, then those that block for another reason; among equals the
// slower ones.
func byStatus(a, b kernel) int {
	return cmp.Or(cmp.Compare(a.group(), b.group()), cmp.Compare(a.latency.percent(), b.latency.percent()),
		cmp.Compare(a.definition, b.definition), cmp.Compare(a.solution, b.solution), cmp.Compare(a.host, b.host))
}

func (k *kernel) group() int {
	for at, n := range k.blocking {
		switch {
		case n == 0:
		case labels[at].finding.Rank() < gate.Regressed.Rank():
			return 0
		case k.fixed == 0:
			return 2
		}
	}
	if k.fixed > 0 {
		return 1
	}
	return 3
}

func (r *Report) kernelTable(most int) block {
	all := r.kernels.list
	t := &table{total: len(all), columns: r.columns("Definition", "Solution~", "Judged>", "Geomean>", "Worst workload~", "Status~")}
	for i := range all[:min(most, len(all))] {
		k := &all[i]
		row := []inline{only(code(k.definition))}
		if len(r.hosts) > 1 {
			row = append(row, only(code(r.hosts[k.host].Run.Host.Label)))
		}
		change, worst := none, none
		if k.latency.n > 0 {
			change = only(plain(inWords(-k.latency.percent(), 0, bench.Lower)))
		}
		if k.worst != nil {
			worst = inline{code(k.worstAt), plain(" " + inWords(-k.worst.Delta, k.worst.Evidence.Limit, bench.Lower))}
		}
		t.rows = append(t.rows, append(row, only(code(k.solution)), only(plain(fmt.Sprintf("%d/%d", k.latency.n, k.workloads))),
			change, worst, only(plain(k.words()))))
	}
	return t
}

// words returns what became of the workloads: "1 wrong, 2 slower, 1 fixed".
func (k *kernel) words() string {
	var list []string
	for at, n := range k.blocking {
		if n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, labels[at].word))
		}
	}
	if k.fixed > 0 {
		list = append(list, fmt.Sprintf("%d fixed", k.fixed))
	}
	if len(list) == 0 {
		return "–"
	}
	return strings.Join(list, ", ")
}
