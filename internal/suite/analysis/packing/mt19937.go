package packing

import "math/bits"

// mt19937 is the Mersenne Twister of Matsumoto and Nishimura (1998), as
// numpy.random.seed sets it up: by init_genrand.
type mt19937 struct {
	state [624]uint32
	next  int
}

func newMT19937(seed uint32) *mt19937 {
	r := &mt19937{next: len(mt19937{}.state)}
	r.state[0] = seed
	for i := 1; i < len(r.state); i++ {
		before := r.state[i-1]
		r.state[i] = 1812433253*(before^before>>30) + uint32(i)
	}
	return r
}

func (r *mt19937) refill() {
	const n, m = len(r.state), 397
	for i := range r.state {
		y := r.state[i]&0x80000000 | r.state[(i+1)%n]&0x7fffffff
		r.state[i] = r.state[(i+m)%n] ^ y>>1 ^ y&1*0x9908b0df
	}
	r.next = 0
}

func (r *mt19937) uint32() uint32 {
	if r.next == len(r.state) {
		r.refill()
	}
	y := r.state[r.next]
	r.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// upTo returns a number from 0 to limit as numpy's legacy generator does: it
// cuts draws down to the bits of limit until one is not over it.
func (r *mt19937) upTo(limit uint32) uint32 {
	if limit == 0 {
		return 0
	}
	mask := uint32(1)<<bits.Len32(limit) - 1
	for {
		if x := r.uint32() & mask; x <= limit {
			return x
		}
	}
}

// uniform appends n numbers from low to below high.
func (r *mt19937) uniform(lengths []int64, n int, low, high int64) []int64 {
	for range n {
		lengths = append(lengths, low+int64(r.upTo(uint32(high-low-1))))
	}
	return lengths
}

// shuffle permutes lengths as numpy.random.shuffle does, and returns them.
func (r *mt19937) shuffle(lengths []int64) []int64 {
	for i := len(lengths) - 1; i > 0; i-- {
		j := r.upTo(uint32(i))
		lengths[i], lengths[j] = lengths[j], lengths[i]
	}
	return lengths
}
