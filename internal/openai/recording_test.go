package openai

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"
)

// TestPiecesAreBounded holds the memory that the times of reads take.
func TestPiecesAreBounded(t *testing.T) {
	t.Parallel()
	dribble := strings.Repeat("\n", 5000)
	for asked, want := range map[int]bool{1: true, 100: false, 0: false} {
		r := recording{maxTokens: asked}
		err := record(t, &r, iotest.OneByteReader(strings.NewReader(dribble)))
		if errors.Is(err, errTooLong) != want || len(r.reads) > 5000 {
			t.Errorf("%d tokens: %v after %d reads", asked, err, len(r.reads))
		}
	}
}

func TestBound(t *testing.T) {
	t.Parallel()
	for tokens, want := range map[int]int{-1: 100, 0: 100, 1: 13, 30: 100, 29: 97, 31: 100, 1 << 62: 100} {
		if got := bound(10, 3, 100, tokens); got != want {
			t.Errorf("%d tokens: %d, want %d", tokens, got, want)
		}
	}
}
