package dataset_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
)

// pieces counts tokens as a vocabulary of short pieces does.
func pieces(size int) func(string) (int, error) {
	return func(text string) (n int, err error) {
		for word := range strings.FieldsSeq(text) {
			n += (len(word) + size - 1) / size
		}
		return n, nil
	}
}

// TestFit: each prompt has the wanted number of tokens, or as many as fit
// below, under vocabularies of every size, and the same again.
func TestFit(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]dataset.Spec{
		"random": {Kind: dataset.Random, Unit: dataset.Tokens, N: 10, Input: uniform(30, 500), Seed: 3},
		"shared": {Kind: dataset.SharedPrefix, Unit: dataset.Tokens, N: 9, Groups: 3, Prefix: 40, Input: fixed(200)},
		"rag":    {Kind: dataset.Builtin, Set: dataset.RAGSet, Unit: dataset.Tokens, N: 2},
	} {
		plain := load(t, spec, nil)
		for _, size := range []int{1, 2, 3, 5, 100} {
			count := pieces(size)
			d, err := plain.Fit(dataset.Unique, 9, count)
			if err != nil {
				t.Fatal(err)
			}
			again, err := plain.Fit(dataset.Unique, 9, count)
			if err != nil {
				t.Fatal(err)
			}
			refit, err := plain.Refit(d.Fitted())
			if err != nil {
				t.Fatal(err)
			}
			sent := sequence(t, refit, dataset.Unique, 9)
			s, same := sequence(t, d, dataset.Unique, 9), sequence(t, again, dataset.Unique, 9)
			for i := range d.Len() {
				p, want := s.Prompt(i, false), plain.Prompt(i).InputLength
				got, _ := count(p.Text)
				if minimum := want - 7/size; size > 1 && (got > want || got < minimum) { // of one-letter tokens the fixed part may be more
					t.Errorf("%s, pieces of %d: prompt %d has %d tokens, want %d", name, size, i, got, want)
				}
				if p.Text != same.Prompt(i, false).Text {
					t.Errorf("%s: prompt %d differs when it is fitted again", name, i)
				}
				if !reflect.DeepEqual(sent.Prompt(i, false), p) {
					t.Errorf("%s: prompt %d differs when its length is given", name, i)
				}
				if words := len(strings.Fields(p.Text)); p.InputLength > words+1 {
					t.Errorf("%s: prompt %d has %d words and says %d", name, i, words, p.InputLength)
				}
			}
		}
		if plain.Prompt(0).Text != load(t, spec, nil).Prompt(0).Text {
			t.Error("the dataset itself was changed")
		}
	}
	plain := load(t, dataset.Spec{Kind: dataset.Random, N: 2, Input: fixed(9)}, nil)
	for _, words := range [][]int{nil, {9}, {9, 9, 9}, {9, 0}, {-1, 9}, {9, dataset.MaxWords + 1}} {
		if _, err := plain.Refit(words); err == nil {
			t.Errorf("the lengths %v were accepted", words)
		}
	}
	failed := errors.New("no such page")
	if _, err := load(t, dataset.Spec{Kind: dataset.Random, Unit: dataset.Tokens, N: 40, Input: fixed(9)}, nil).Fit(dataset.Unique, 9,
		func(string) (int, error) { return 0, failed }); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
}
