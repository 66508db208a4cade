package dataset

import (
	"fmt"
	"slices"
	"strings"
)

// Policy describes what a server's prefix cache may find of earlier prompts.
type Policy string

// The policies.
const (
	// Unique begins every prompt with a nonce of its own, so that no two share
	// more than a chat template's first tokens and a word by chance.
	Unique Policy = "unique"
	// KeepPrefix puts the nonce behind what a dataset means to be shared: the
	// prefix of a group, a common document, the system's first messages.
	KeepPrefix Policy = "shared-prefix"
	// AsIs sends what the dataset says, and a prompt again where there are more
	// requests than prompts.
	AsIs Policy = "as-is"
)

// Policies returns all policies.
func Policies() []Policy { return []Policy{Unique, KeepPrefix, AsIs} }

// ParsePolicy returns the policy of that name. There is none without a name:
// what a cache finds decides what a benchmark measures.
func ParsePolicy(name string) (Policy, error) {
	switch {
	case name == "":
		return "", fmt.Errorf("cache_policy: is missing: write one of %s", list(Policies()))
	case !slices.Contains(Policies(), Policy(name)):
		return "", unknown("cache_policy", name, Policies()...)
	}
	return Policy(name), nil
}

// NonceWords is how many words a nonce adds to a prompt. A nonce has always
// as many, so that lengths keep their distribution and move by it.
const NonceWords = 8

// Sequence is the prompts of a dataset in the order of requests, under a
// policy. It may be used by several goroutines at once.
type Sequence struct {
	d      *Dataset
	policy Policy
	key    uint64
}

// Sequence returns the prompts as they are sent under a policy. It fails if
// there is no such policy, or if a prompt shares nothing by design that
// KeepPrefix could keep. Equal seeds give equal nonces: a server that is still
// warm from one sequence needs another seed for the next.
func (d *Dataset) Sequence(policy Policy, seed uint64) (*Sequence, error) {
	if _, err := ParsePolicy(string(policy)); err != nil {
		return nil, err
	}
	for i, it := range d.items {
		if policy == KeepPrefix && it.shared == 0 && instructions(it.messages) == 0 {
			return nil, fmt.Errorf("cache_policy: shared-prefix: prompt %d of dataset %s has no prefix that others share by design: "+
				"write unique or as-is, or take a dataset with groups or with system messages", i+1, d.ID)
		}
	}
	return &Sequence{d: d, policy: policy, key: mix(seed ^ mix(uint64(nonceKey)))}, nil
}

// Prompt returns what request i of the warm-up or of the measurement asks,
// both from 0. Measured requests take the dataset from its beginning and
// warm-up from its end, again from there when it is used up; nonces of the two
// never meet.
func (s *Sequence) Prompt(i int, warmup bool) Prompt {
	at := s.at(i, warmup)
	if s.policy == AsIs {
		return s.d.render(at, "", false)
	}
	return s.d.render(at, s.nonce(i, warmup), s.policy == KeepPrefix)
}

func (s *Sequence) at(i int, warmup bool) int {
	at := i % len(s.d.items)
	if warmup {
		at = len(s.d.items) - 1 - at
	}
	return at
}

// nonce writes a 64-bit number as eight of 256 words. The number is a bijection
// of the request's, so that no two nonces of a sequence are equal.
func (s *Sequence) nonce(i int, warmup bool) string {
	request := uint64(i) << 1
	if warmup {
		request |= 1
	}
	v := mix(request ^ s.key)
	var b strings.Builder
	for n := range NonceWords {
		if n > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(words[v>>(8*n)&0xff])
	}
	b.WriteString(".\n\n")
	return b.String()
}

// Repeats reports whether so many requests of the warm-up and of the measurement
// ask the same text twice: under AsIs a server's cache then answers in part.
// Under the other policies it is always false.
func (s *Sequence) Repeats(warmup, measured int) bool {
	if s.policy != AsIs {
		return false
	}
	if warmup > len(s.d.items) || measured > len(s.d.items) || warmup+measured > len(s.d.items) {
		return true
	}
	seen := make(map[[16]byte]bool, warmup+measured)
	for i := range warmup {
		seen[s.d.sums[s.at(i, true)]] = true
	}
	for i := range measured {
		seen[s.d.sums[s.at(i, false)]] = true
	}
	return len(seen) < warmup+measured
}
