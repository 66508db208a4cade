package report

import (
	"cmp"
	"fmt"
	"slices"
)

// groups gathers cells that share a host and a reason. It keeps the first
// maxFolded of them, since a run can make up as many reasons as it has cells.
type groups struct {
	index map[groupKey]int
	list  []group
	cells int // in all groups
	rest  int // cells of groups that were not kept
}

type groupKey struct {
	host   int
	reason string
}

type group struct {
	groupKey
	cells []string // the first few
	n     int
}

func (g *groups) add(f finding) {
	const first = 3
	g.cells++
	key := groupKey{f.host, f.Reason}
	i, known := g.index[key]
	if !known {
		if len(g.list) == maxFolded {
			g.rest++
			return
		}
		if g.index == nil {
			g.index = map[groupKey]int{}
		}
		i = len(g.list)
		g.index[key] = i
		g.list = append(g.list, group{groupKey: key})
	}
	of := &g.list[i]
	if of.n++; of.n <= first {
		of.cells = append(of.cells, f.Cell)
	}
}

// largest returns up to maximum groups, those with the most cells first, and how
// many cells the others have.
func (g *groups) largest(maximum int) (list []group, cells int) {
	list = slices.Clone(g.list)
	slices.SortStableFunc(list, func(a, b group) int { return cmp.Compare(b.n, a.n) })
	list = list[:min(maximum, len(list))]
	cells = g.cells
	for i := range list {
		cells -= list[i].n
	}
	return list, cells
}

// such writes the first cells: "a, b, c and 9 more".
func such(cells []string, n int) inline {
	var line inline
	for i, id := range cells {
		if i > 0 {
			line = append(line, plain(", "))
		}
		line = append(line, code(id))
	}
	if more := n - len(cells); more > 0 {
		line = append(line, plain(fmt.Sprintf(" and %d more", more)))
	}
	return line
}

func (r *Report) groupTable(g *groups, maximum int) block {
	list, _ := g.largest(maximum)
	t := &table{total: len(g.list) + g.rest, columns: r.columns("Reason~", "Cells>", "Such as~")}
	for _, of := range list {
		row := []inline{only(reason(of.reason))}
		if len(r.hosts) > 1 {
			row = append(row, only(code(r.hosts[of.host].Run.Host.Label)))
		}
		t.rows = append(t.rows, append(row, only(plain(fmt.Sprint(of.n))), such(of.cells, of.n)))
	}
	return t
}
