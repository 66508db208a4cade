package detect

import (
	"cmp"
	"math"
	"slices"
)

// Early decides large losses before the last look. A cell that looks slower by far at the
// first look is measured in Pairs fresh ones, and they alone decide. Such cells are
// tested one after another, each at the whole first share of the false alarms, until one of
// them does not hold; those after it at the second share, and so on until no share is
// left. That is the fixed sequence procedure: the order comes from the first look, which
// no test uses. Of the unchanged cells only the first can be called slower at the first
// share, and the second at the second one, whatever the number of cells and the
// dependence between them. Holm's procedure would divide the shares by the number of
// cells, to less than so few pairs can show.
type Early struct {
	P      float64   // at the first look, up to which a cell is decided early
	Pairs  int       // fresh ones, at least: as many as can show a p up to the first share
	Shares []float64 // of the false alarms, descending; the last decision has the rest, or all where nothing is left open here
}

// earlyPairs is how many fresh pairs decide early, and what the tests may spend; 0 if that
// saves nothing.
func (s Stages) earlyPairs(falseAlarms float64) (n int, alphas []float64) {
	for _, share := range s.Early.Shares {
		if len(alphas) == 0 {
			n = max(s.Early.Pairs, int(math.Ceil(-math.Log2(falseAlarms*share))))
		}
		if alpha := falseAlarms * share; math.Pow(2, -float64(n)) <= alpha {
			alphas = append(alphas, alpha)
		}
	}
	if s.Looks[0].Pairs+n > s.Total()-s.Early.Pairs {
		return 0, nil
	}
	return n, alphas
}

// candidate is a cell that is decided early.
type candidate struct {
	at    int     // in the cells
	look  float64 // p at the first look, which orders them
	p     float64 // of the fresh pairs; 1 while they are not there
	found staged  // by the fresh pairs, or what is open
}

// earlyDecisions are what the early decisions leave for the later ones.
type earlyDecisions struct {
	settled map[int]staged // by the place of the cell: losses, and cells that lack pairs
	pairs   map[int]int    // that the others were measured in, whatever the looks between say
	left    float64        // of the false alarms
}

// early tests the cells that look slower by far.
func (s Stages) early(cells []Cell, cross, falseAlarms float64) earlyDecisions {
	d := earlyDecisions{left: falseAlarms, settled: map[int]staged{}, pairs: map[int]int{}}
	n, alphas := s.earlyPairs(falseAlarms)
	if n == 0 {
		return d
	}
	all := s.candidates(cells, cross, n)
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.look, b.look), cmp.Compare(b.p, a.p)) // of equal ones, the least certain first
	})
	spare, worst := falseAlarms, 0.0
	for _, alpha := range alphas {
		spare -= alpha
	}
	for _, c := range all {
		e := c.found
		if len(alphas) > 0 && e.Need == 0 {
			worst = max(worst, c.p/alphas[0])
			if e.regress(cells[c.at].Options, worst*falseAlarms, falseAlarms) {
				d.settled[c.at] = e
				continue
			}
			alphas, worst = alphas[1:], 0
		}
		if e.Need > 0 {
			d.settled[c.at], alphas = e, nil
		} else {
			d.pairs[c.at] = s.Looks[0].Pairs + n
		}
		d.left = spare
	}
	return d
}

// candidates are the cells that look slower by far, each with n fresh pairs or open.
func (s Stages) candidates(cells []Cell, cross float64, n int) (all []candidate) {
	first := s.Looks[0].Pairs
	for i := range cells {
		c := pairsOf(cells[i])
		if len(c.Base) < first {
			continue
		}
		look := s.judge(c, cross, 0, first)
		if look.Verdict == Untested || look.P > s.Early.P || look.Estimate < c.Options.pairedEffect()-rounding {
			continue
		}
		one := candidate{at: i, look: look.P, p: 1}
		if have := len(c.Base); have < first+n {
			one.found = s.open(c, cross, have, first+n)
		} else if one.found = s.judge(c, cross, first, first+n); one.found.Verdict != Untested {
			one.p = one.found.level
		}
		all = append(all, one)
	}
	return all
}

// regress makes the cell one that is slower for certain, if it is.
func (e *staged) regress(o Options, q, falseAlarms float64) bool {
	if e.Verdict == Untested || q > falseAlarms || e.Estimate < o.pairedEffect()-rounding {
		return false
	}
	e.Verdict, e.Reason = Regressed, ""
	e.Decided, e.P, e.Q = true, e.level, q
	return true
}

// pairedEffect is the least effect of pairs.
func (o Options) pairedEffect() float64 {
	o.Mode = Interleaved
	return max(o.minEffect(), 0)
}
