package dataset

import (
	"math/bits"
	"math/rand/v2"
)

// topic keeps apart what is drawn for different ends from one seed.
type topic uint64

const (
	ownText topic = iota + 1
	groupText
	blockText
	inputLengths
	outputLengths
	questionChoice
	nonceKey
	turnText
	turnCounts
	turnLengths
	turnOutputs
	thinkTimes
)

// source draws numbers. PCG-DXSM is specified, so that its numbers are the
// same in every version of Go; the mappings are ours, because those of
// math/rand/v2 may change.
type source struct{ pcg *rand.PCG }

// newSource returns the source of one index of a topic. What is drawn for one
// index does not depend on how many others there are, so that a larger dataset
// begins with the smaller one of the same seed.
func newSource(seed uint64, t topic, index uint64) source {
	return source{rand.NewPCG(mix(seed^mix(uint64(t))), mix(index))}
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014): a bijection,
// so that different numbers stay different.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// intn returns a number from 0 to n-1. It favours some by at most n/2^64.
func (s source) intn(n int) int {
	high, _ := bits.Mul64(s.pcg.Uint64(), uint64(n))
	return int(high)
}

// float returns a number above 0 and below 1, in steps of 2^-52.
func (s source) float() float64 { return (float64(s.pcg.Uint64()>>12) + 0.5) / (1 << 52) }

const (
	wordBits      = 9 // of 64 that pick a word
	meanWordBytes = 6 // with the blank, a little more than there are
)

// appendWords appends p.words words with blanks between them. Fewer words of the
// same topic and index are the beginning of more.
func appendWords(b []byte, seed uint64, p part) []byte {
	from := newSource(seed, p.topic, p.index)
	var pool uint64
	left := 0
	for i := range p.words {
		if left < wordBits {
			pool, left = from.pcg.Uint64(), 64
		}
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, words[pool&(1<<wordBits-1)]...)
		pool >>= wordBits
		left -= wordBits
	}
	return b
}
