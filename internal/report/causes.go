package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/gate"
)

const (
	minAlike  = 5    // findings of one cause that are shown as one
	maxCauses = 1000 // that are kept apart; a run can make up as many as it has cells
	maxShared = 10   // causes that are shown
)

// byCause gathers the blocking findings that share a host, a label and a cause.
type byCause struct {
	index map[causeKey]*cause
	list  []*cause
}

type causeKey struct {
	host          int
	label         int
	metric, cause string
}

// cause is why several cells block.
type cause struct {
	first  []finding // fewer than minAlike
	n      int       // verdicts
	shared []string  // the parts of the ids, "" where they differ; nil where nothing is shared
	common common    // what the cells have in common, once all are known
}

// add reports whether the finding is kept here.
func (c *byCause) add(f finding) bool {
	if f.Cell == "" || f.alike != nil || !slices.Contains(massed, f.Finding) {
		return false
	}
	key := causeKey{f.host, labelOf(f.Verdict), f.Metric, string(f.Cause) + " " + withoutNumbers(f.because())}
	of, known := c.index[key]
	if !known {
		if len(c.list) == maxCauses {
			return false
		}
		if c.index == nil {
			c.index = map[causeKey]*cause{}
		}
		of = &cause{shared: strings.Split(f.Cell, "__")}
		c.index[key] = of
		c.list = append(c.list, of)
	}
	if of.n++; of.n < minAlike {
		of.first = append(of.first, f)
	}
	of.shared = keepShared(of.shared, f.Cell)
	return true
}

// massed are the findings that a whole part of a matrix may have by one cause.
var massed = []gate.Finding{gate.Incorrect, gate.Crashed, gate.Missing}

// withoutNumbers makes one of causes that differ in addresses, sizes and times only.
func withoutNumbers(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if '0' <= s[i] && s[i] <= '9' {
			for i+1 < len(s) && (isHex(rune(s[i+1])) || s[i+1] == '.' || s[i+1] == 'x') {
				i++
			}
			b.WriteByte('0')
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// keepShared blanks the parts that id has not.
func keepShared(shared []string, id string) []string {
	if shared == nil || strings.Count(id, "__") != len(shared)-1 {
		return nil
	}
	for i := range shared {
		part, rest, _ := strings.Cut(id, "__")
		if part != shared[i] {
			shared[i] = ""
		}
		id = rest
	}
	return shared
}

// settle splits into the causes of many findings, the largest first, and the
// findings of the others.
func (c *byCause) settle() (shared []*cause, single []finding) {
	for _, of := range c.list {
		if of.n < minAlike {
			single = append(single, of.first...)
		} else {
			shared = append(shared, of)
		}
	}
	slices.SortStableFunc(shared, func(a, b *cause) int { return cmp.Compare(b.n, a.n) })
	return shared, single
}
