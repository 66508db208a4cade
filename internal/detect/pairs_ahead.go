package detect

import "math"

// Ahead is how many pairs a cell is expected to take before any is measured, where nothing
// changed.
func (s Stages) Ahead() float64 {
	const parts = 100
	first, sum := s.Looks[0], 0.0
	for i := range parts {
		p := (float64(i) + 0.5) / parts // every p is as likely
		if p > first.P {
			break
		}
		need := s.next(0)
		if p <= s.Early.P && len(s.Early.Shares) > 0 {
			need = first.Pairs + s.Early.Pairs
		}
		sum += float64(need-first.Pairs) + s.Later(p, first.Pairs, need)
	}
	return float64(first.Pairs) + sum/parts
}

// next is how many pairs follow a look.
func (s Stages) next(look int) int {
	if look+1 < len(s.Looks) {
		return s.Looks[look+1].Pairs
	}
	return s.Total()
}

// lasting is the share of an effect at one look that later pairs show as well: chance made
// the rest.
const lasting = 0.4

// settlesEarly is the normal quantile of p at the first look that half of the losses behind it
// need to be decided early. TestLaterIsWhatFollows holds it.
const settlesEarly = 2.2

// Later is how many pairs are expected after those that a cell needs, by p of those that
// were used. No verdict depends on it.
func (s Stages) Later(p float64, used, need int) (later float64) {
	z := math.Sqrt2 * math.Erfinv(1-2*min(max(p, 1e-9), 1))
	reach := 1.0
	if used == s.Looks[0].Pairs && need >= used+s.Early.Pairs {
		reach = normal(settlesEarly - z)
	}
	for i, look := range s.Looks {
		if look.Pairs >= need || i == len(s.Looks)-1 && need < s.Total() {
			reach *= normal(lasting*z*math.Sqrt(float64(look.Pairs)/float64(used)) - math.Sqrt2*math.Erfinv(1-2*look.P))
			later += reach * float64(s.next(i)-max(look.Pairs, need))
		}
	}
	return later
}

// normal is the normal distribution function.
func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
