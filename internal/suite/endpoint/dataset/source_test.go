package dataset

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestWordsAreWhatIsPromised(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, w := range words {
		if seen[w] || len(w) < 2 || len(w) > 6 || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" {
			t.Errorf("%q is twice or has other than two to six letters", w)
		}
		seen[w] = true
	}
	if len(words) != 1<<wordBits {
		t.Errorf("%d words", len(words))
	}
}

// The numbers are those of math/rand/v2 at Go 1.26, so that a change of its
// PCG is seen as one.
func TestSourceIsStable(t *testing.T) {
	t.Parallel()
	from := newSource(42, ownText, 7)
	for i, want := range []int{372505, 562863, 119395} {
		if got := from.intn(1_000_000); got != want {
			t.Errorf("number %d: %d, want %d", i, got, want)
		}
	}
}

func TestFloatStaysInside(t *testing.T) {
	t.Parallel()
	from := newSource(1, ownText, 0)
	for range 10_000 {
		if v := from.float(); v <= 0 || v >= 1 {
			t.Fatal(v)
		}
	}
}

func TestLimitIsAnError(t *testing.T) {
	t.Parallel()
	got, err := io.ReadAll(&limitedReader{r: strings.NewReader("abcdef"), left: 4})
	if string(got) != "abcd" || !errors.Is(err, errFileSize) {
		t.Errorf("%q, %v", got, err)
	}
}
