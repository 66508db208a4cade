package dataset

import (
	"fmt"
	"slices"
	"sync"
)

// Unit is what lengths of generated prompts count.
type Unit string

// The units.
const (
	Words  Unit = "words"  // of about one token each
	Tokens Unit = "tokens" // as the server counts them
)

// Bounds of Fit: tries of one prompt, which halves of MaxWords need at most, the
// first of them that guess, and prompts at once.
const (
	maxTries = 26
	guesses  = 8
	fitters  = 8
)

func (s Spec) checkUnit() error {
	generates := !s.fromFile() && literals(s.Set) == nil
	switch {
	case s.Unit == "" || s.Unit == Words:
		return nil
	case s.Unit != Tokens:
		return unknown("length_unit", string(s.Unit), Words, Tokens)
	case !generates:
		return fmt.Errorf("length_unit: %s has no generated prompts whose length could be chosen: remove it", s.describe())
	}
	return nil
}

// CountsTokens reports whether lengths are tokens, and so need Fit.
func (d *Dataset) CountsTokens() bool { return d.unit == Tokens }

// Fit returns the dataset with prompts of as many tokens as they should have
// words, nonces of the policy and the seed included. count returns the tokens of
// a text and is called by several goroutines at once; its first error is
// returned. Where no number of words gives the tokens, the nearest below is
// taken, and the least is one word.
func (d *Dataset) Fit(policy Policy, seed uint64, count func(text string) (int, error)) (*Dataset, error) {
	fit := *d
	fit.items = slices.Clone(d.items)
	sequence, err := fit.Sequence(policy, seed)
	if err != nil {
		return nil, err
	}
	var all sync.WaitGroup
	errs := make([]error, fitters)
	for worker := range fitters {
		all.Go(func() {
			for i := worker; i < len(fit.items) && errs[worker] == nil; i += fitters {
				errs[worker] = sequence.fit(i, count)
			}
		})
	}
	all.Wait()
	return &fit, firstOf(errs...)
}

// Fitted returns how many generated words Fit chose for each prompt, in order, or
// those of a dataset that was not fitted.
func (d *Dataset) Fitted() []int {
	words := make([]int, len(d.items))
	for i := range d.items {
		words[i] = d.items[i].own().words
	}
	return words
}

// Refit returns the dataset with the words that Fitted returned of one that was
// fitted, in another process.
func (d *Dataset) Refit(words []int) (*Dataset, error) {
	if len(words) != len(d.items) {
		return nil, fmt.Errorf("%d lengths are given for the %d prompts of dataset %s: read the same dataset", len(words), len(d.items),
			d.ID)
	}
	fit := *d
	fit.items = slices.Clone(d.items)
	for i, n := range words {
		if n < 1 || n > MaxWords {
			return nil, fmt.Errorf("prompt %d is given %d words: use 1 to %d", i+1, n, MaxWords)
		}
		it := &fit.items[i]
		it.parts = slices.Clone(it.parts)
		own := it.own()
		it.length += n - own.words
		own.words = n
	}
	return &fit, nil
}

// own is the last generated part of a prompt.
func (it *item) own() *part {
	at := len(it.parts) - 1
	for at > 0 && it.parts[at].words == 0 {
		at--
	}
	return &it.parts[at]
}

// fit changes the last generated part of prompt i.
func (s *Sequence) fit(i int, count func(text string) (int, error)) error {
	it := &s.d.items[i]
	it.parts = slices.Clone(it.parts)
	own, want := it.own(), it.length
	fixed := it.length - own.words
	// Words best give best tokens at most want, and words high more. Text is
	// nearly linear, so that the first guesses lie on a line; then halves.
	best, bestTokens, high, highTokens := 1, 0, min(want+1, MaxWords), 0
	own.words = max(1, min(own.words, high-1))
	for try := 0; try < maxTries; try++ {
		got, err := count(s.Prompt(i, false).Text)
		switch {
		case err != nil:
			return err
		case got <= want:
			best, bestTokens = max(best, own.words), got
		default:
			high, highTokens = own.words, got
		}
		if got == want || high-best <= 1 {
			break
		}
		next := (best + high) / 2
		switch {
		case try >= guesses:
		case bestTokens > 0 && highTokens > 0:
			next = best + (want-bestTokens)*(high-best)/(highTokens-bestTokens)
		case got > 0:
			next = own.words * want / got
		}
		own.words = max(best+1, min(next, high-1))
	}
	own.words = best
	it.length = fixed + best
	return nil
}
