package text_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/text"
)

func TestNearest(t *testing.T) {
	known := []string{"threshold", "baseline", "cuda", "cpu"}
	for word, want := range map[string]string{
		"thresold": "threshold", "theshrold": "threshold", "baselin": "baseline", "cdua": "cuda",
		"threshold": "threshold", "xyz": "", "": "", strings.Repeat("x", 1<<20): "",
	} {
		if got := text.Nearest(word, known); got != want {
			t.Errorf("Nearest(%.20q) = %q, want %q", word, got, want)
		}
	}
	if got := text.Nearest("cuda", []string{strings.Repeat("cuda", 1<<20)}); got != "" {
		t.Errorf("a huge known word is near: %.20q", got)
	}
}
