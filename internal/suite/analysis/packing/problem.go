package packing

import (
	"fmt"
	"math"
)

// check returns what keeps a problem from being packed by any algorithm.
func (p Problem) check() error {
	switch {
	case p.Ranks < 1 || p.Ranks > MaxRanks:
		return fmt.Errorf("%d ranks: give 1 to %d", p.Ranks, MaxRanks)
	case p.Max < 1:
		return fmt.Errorf("at most %d tokens per rank: give 1 or more", p.Max)
	case len(p.Lengths) > MaxLengths:
		return fmt.Errorf("%d lengths, of which at most %d are packed: split the list", len(p.Lengths), MaxLengths)
	}
	switch p.Policy {
	case "", Reject, OwnRow, Error, Legacy:
	default:
		return fmt.Errorf("unknown policy %.40q: use one of %v", p.Policy, Policies())
	}
	if err := p.checkLengths(); err != nil {
		return err
	}
	return p.Cost.check(p.Lengths)
}

func (p Problem) checkLengths() error {
	var sum int64
	for i, length := range p.Lengths {
		switch {
		case length < 0:
			return fmt.Errorf("length %d at index %d: give tokens, from 0 on", length, i)
		case length > math.MaxInt64-sum:
			return fmt.Errorf("the lengths up to index %d add up to more than %d tokens: split the list", i, int64(math.MaxInt64))
		case p.Policy == Error && length == 0:
			return fmt.Errorf("no tokens at index %d: remove the sequence, or choose the policy %s or %s", i, Reject, OwnRow)
		case p.Policy == Error && length > p.Max:
			return fmt.Errorf("%d tokens at index %d, where a rank holds %d: allow more per rank, or choose the policy %s or %s",
				length, i, p.Max, Reject, OwnRow)
		}
		sum += length
	}
	return nil
}

// rejects reports whether an item of this length is left out.
func (p Problem) rejects(length int64) bool {
	return (p.Policy == "" || p.Policy == Reject) && !p.fits(length)
}

// fits reports whether an item of this length is packed by every algorithm alike.
func (p Problem) fits(length int64) bool { return length > 0 && length <= p.Max }
