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
	ids := []string{"tool__parse__baseline", "tool__write__baseline", "sort.BenchmarkSort/n=10", "sort.BenchmarkSort/n=1000", "tests/test_größe.py::test_a[x 1]"}
	for word, want := range map[string]string{
		"tool__parse": "tool__parse__baseline", "tool/parse": "tool__parse__baseline", "tool parse base": "tool__parse__baseline",
		"BenchmarkSort": "sort.BenchmarkSort/n=10", "example.org/lib/sort.BenchmarkSort/n=1000-2": "sort.BenchmarkSort/n=1000",
		"test_a[x-1]": "tests/test_größe.py::test_a[x 1]", "TEST_GRÖSSE": "", "to": "", "": "", strings.Repeat("x", 1<<20): "",
	} {
		if got := text.NearestID(word, ids); got != want {
			t.Errorf("NearestID(%.40q) = %q, want %q", word, got, want)
		}
	}
	if got := text.Nearest("cuda", []string{strings.Repeat("cuda", 1<<20)}); got != "" {
		t.Errorf("a huge known word is near: %.20q", got)
	}
}
