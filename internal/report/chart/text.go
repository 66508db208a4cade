package chart

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Text draws the trend in lines of at most columns characters, with rows of them for the
// values: "*" is a run, "o" one of an unhealthy host, "#" the newest, and ":" stands
// before each change of level. Only the newest runs that fit are drawn; shown is how many. It is nil
// below two values. It draws neither the anchor nor names.
func (t Trend) Text(columns, rows int) (lines []string, shown int) {
	from := max(0, len(t.Values)-t.room(columns))
	values := t.Values[from:]
	if finiteOf(values) < 2 || rows < 2 {
		return nil, 0
	}
	s := levels(values)
	grid := make([][]byte, rows) // the highest first
	for i, v := range values {
		for row := range grid {
			if i > 0 && slices.Contains(t.Changes, from+i) {
				grid[row] = append(grid[row], ':')
			}
			mark := byte(' ')
			if finite(v) && rows-1-s.cell(v, rows) == row {
				mark = t.mark(from + i)
			}
			grid[row] = append(grid[row], mark)
		}
	}
	return t.labelled(s, grid), len(values)
}

// room is how many runs fit beside the labels.
func (t Trend) room(columns int) int { return max(2, columns-labelWidth-len(" |")-len(t.Changes)) }

const labelWidth = 12 // runes

func (t Trend) labelled(s scale, grid [][]byte) []string {
	lines := make([]string, len(grid))
	for row, marks := range grid {
		label := ""
		switch row {
		case 0:
			label = value(s.hi)
		case len(grid) - 1:
			label = value(s.lo)
		}
		pad := strings.Repeat(" ", max(0, labelWidth-utf8.RuneCountInString(label)))
		lines[row] = strings.TrimRight(fmt.Sprintf("%s%s |%s", pad, label, marks), " ")
	}
	return lines
}

// mark is the sign of a run.
func (t Trend) mark(i int) byte {
	switch {
	case i == len(t.Values)-1:
		return '#'
	case i < len(t.Doubtful) && t.Doubtful[i]:
		return 'o'
	}
	return '*'
}

func finiteOf(values []float64) (n int) {
	for _, v := range values {
		if finite(v) {
			n++
		}
	}
	return n
}
