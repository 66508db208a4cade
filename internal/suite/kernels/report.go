package kernels

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/stats"
)

// The parameters and metrics of a cell that reports show.
const (
	paramDefinition = "definition"
	paramSolution   = "solution"
	paramWorkload   = "workload"

	latencyMetric   = "latency_ms"
	referenceMetric = "reference_latency_ms"
	speedupMetric   = "speedup_factor"
)

// solved is a solution of a definition on a host, with what became of its
// workloads.
type solved struct {
	host                 string
	definition, solution string
	workloads            int
	latency              geomean
	worst                *gate.Verdict // the largest loss of latency, nil where nothing was judged
	worstAt              string        // its workload
	blocking             []blocking    // the worst first
	fixed                int
}

// blocking counts cells by the label of their worst verdict that blocks.
type blocking struct {
	rank  int
	word  string
	found gate.Finding
	cells int
}

// blocks returns a table of all solutions, and a note on each host that seems to have drifted.
func blocks(hosts []report.HostInput) (b report.Blocks) {
	var list []solved
	var drifts []drift
	for i := range hosts {
		s := scan(&hosts[i])
		list = append(list, s.list...)
		if d := s.drift(hosts[i].Reference); d.seen() {
			d.host = &hosts[i]
			drifts = append(drifts, d)
		}
	}
	addDrifts(&b.Notes, drifts)
	if len(list) > 0 {
		slices.SortStableFunc(list, byStatus)
		b.Folded.Section("Kernels by definition")
		addSolved(&b.Folded, list, len(hosts) > 1)
	}
	return b
}

// hostScan collects the solutions of one host.
type hostScan struct {
	host   string
	list   []solved
	own    map[string]own    // of the run, by cell
	at     map[[2]string]int // places in list, by definition and solution
	alike  map[string]int    // and by what the ids of a solution's cells begin with
	judged []*gate.Verdict   // on latency, of cells in own
}

// own is a result of the run and the place of its solution.
type own struct {
	*bench.Result
	place int
}

// scan groups the verdicts on the kind's cells; without any it costs a look at each result.
func scan(h *report.HostInput) *hostScan {
	s := &hostScan{host: h.Run.Host.Label, own: map[string]own{}, at: map[[2]string]int{}, alike: map[string]int{}}
	for k := range h.Run.Results {
		s.place(&h.Run.Results[k])
	}
	if len(s.own) == 0 {
		return s
	}
	for rest := h.Comparison.Verdicts; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Cell == rest[0].Cell {
			n++
		}
		s.cell(rest[:n])
		rest = rest[n:]
	}
	return s
}

// family is what the ids of a solution's cells begin with: an id ends in the
// workload, in which a slash is escaped.
func family(id string) string { return id[:strings.LastIndexByte(id, '/')+1] }

func (s *hostScan) place(res *bench.Result) {
	key := [2]string{res.Cell.Get(paramDefinition), res.Cell.Get(paramSolution)}
	if key[0] == "" {
		return
	}
	i, known := s.at[key]
	if !known {
		i = len(s.list)
		s.at[key] = i
		s.list = append(s.list, solved{host: s.host, definition: key[0], solution: key[1]})
	}
	id := res.Cell.ID()
	s.own[id] = own{res, i}
	s.alike[family(id)] = i
}

// of returns the solution of a cell, nil where it is of another kind. A cell that only the
// baseline has, which keeps no parameters, is of the solution whose cells' ids
// begin alike.
func (s *hostScan) of(id string) *solved {
	if o, ok := s.own[id]; ok {
		return &s.list[o.place]
	}
	if i, ok := s.alike[family(id)]; ok && family(id) != "" {
		return &s.list[i]
	}
	return nil
}

// cell takes the verdicts on one cell.
func (s *hostScan) cell(verdicts []gate.Verdict) {
	k := s.of(verdicts[0].Cell)
	if k == nil {
		return
	}
	k.workloads++
	worst := blocking{rank: -1}
	for i := range verdicts {
		v := &verdicts[i]
		if v.Blocks {
			if rank, word := report.Label(v); worst.rank < 0 || rank < worst.rank {
				worst = blocking{rank, word, v.Finding, 1}
			}
		}
		k.fixed += stats.Indicator(v.Finding == gate.Fixed)
		if v.Metric == latencyMetric && v.Evidence.Method.Speed() && !v.Undecided() {
			s.judge(k, v)
		}
	}
	if worst.rank >= 0 {
		k.block(worst)
	}
}

func (k *solved) block(b blocking) {
	i, known := slices.BinarySearchFunc(k.blocking, b, func(a, b blocking) int { return cmp.Compare(a.rank, b.rank) })
	if known {
		k.blocking[i].cells++
		return
	}
	k.blocking = slices.Insert(k.blocking, i, b)
}

func (s *hostScan) judge(k *solved, v *gate.Verdict) {
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

// byStatus puts solutions first whose cells began to fail, then those with cells
// that no longer do, then those that block for another reason; among equals the
// slower ones.
func byStatus(a, b solved) int {
	return cmp.Or(cmp.Compare(a.group(), b.group()), cmp.Compare(a.latency.percent(), b.latency.percent()),
		cmp.Compare(a.definition, b.definition), cmp.Compare(a.solution, b.solution))
}

func (k *solved) group() int {
	for _, b := range k.blocking {
		switch {
		case b.found.Rank() < gate.Regressed.Rank():
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

func addSolved(t *report.Text, list []solved, severalHosts bool) {
	names := []string{"Definition", "Solution~", "Judged>", "Geomean>", "Worst workload~", "Status~"}
	if severalHosts {
		names = slices.Insert(names, 1, "Host~")
	}
	var rows [][]report.Line
	for i := range list {
		k := &list[i]
		row := []report.Line{report.Only(report.Code(k.definition))}
		if severalHosts {
			row = append(row, report.Only(report.Code(k.host)))
		}
		change, worst := report.None(), report.None()
		if k.latency.n > 0 {
			change = report.Only(report.Plain(report.FormatChange(-k.latency.percent(), 0, bench.Lower)))
		}
		if k.worst != nil {
			worst = report.Line{
				report.Code(k.worstAt),
				report.Plain(" " + report.FormatChange(-k.worst.Delta, k.worst.Evidence.Limit, bench.Lower)),
			}
		}
		rows = append(rows, append(row, report.Only(report.Code(k.solution)),
			report.Only(report.Plain(fmt.Sprintf("%d/%d", k.latency.n, k.workloads))), change, worst, report.Only(report.Plain(k.words()))))
	}
	t.Table(names, rows, len(rows))
}

// words returns what became of the workloads: "1 wrong, 2 slower, 1 fixed".
func (k *solved) words() string {
	var list []string
	for _, b := range k.blocking {
		list = append(list, fmt.Sprintf("%d %s", b.cells, b.word))
	}
	if k.fixed > 0 {
		list = append(list, fmt.Sprintf("%d fixed", k.fixed))
	}
	if len(list) == 0 {
		return "–"
	}
	return strings.Join(list, ", ")
}
