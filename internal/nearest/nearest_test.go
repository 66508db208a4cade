package nearest_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/nearest"
)

func TestWord(t *testing.T) {
	known := []string{"threshold", "baseline", "cuda", "cpu"}
	for word, want := range map[string]string{
		"thresold": "threshold", "theshrold": "threshold", "baselin": "baseline", "cdua": "cuda",
		"threshold": "threshold", "xyz": "", "": "", strings.Repeat("x", 1<<20): "",
	} {
		if got := nearest.Word(word, known); got != want {
			t.Errorf("Word(%.20q) = %q, want %q", word, got, want)
		}
	}
	if got := nearest.Word("cuda", []string{strings.Repeat("cuda", 1<<20)}); got != "" {
		t.Errorf("a huge known word is near: %.20q", got)
	}
}
