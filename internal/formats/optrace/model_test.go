package optrace_test

import (
	"os"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/formats/optrace"
)

// TestOf reads the numbers of one performance model, whatever stands first, and refuses what lacks it.
func TestOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		format, model, file string
		total               float64
		err                 string
	}{
		{"msmodeling-table", "analytic", "two-models", 0.75, ""},
		{"msmodeling-table", "profiling", "two-models", 2.25, ""},
		{"msmodeling-table", "empirical", "two-models", 0, "no total: Could not find 'Total time for empirical' in output"},
		{"msmodeling-metrics", "analytic", "two-models", 0.375, ""},
		{"msmodeling-metrics", "profiling", "two-models", 0.5, ""},
		{"msmodeling-metrics", "empirical", "two-models", 0, "runtime_event_list has nothing of the performance model \"empirical\""},
		{"msmodeling-trace", "empirical", "two-models", 0, "holds no profile"},
		{"json", "empirical", "", 0, "holds no profile"},
	} {
		data := []byte("nothing")
		if test.file != "" {
			var err error
			if data, err = os.ReadFile("testdata/format/" + test.format + "/" + test.file + ".txt"); err != nil {
				t.Fatal(err)
			}
		}
		p, err := optrace.Of(test.format, test.model)(data)
		switch {
		case test.err != "":
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s of %s: got %v, want an error with %q", test.format, test.model, err, test.err)
			}
		case err != nil || p.Total != test.total:
			t.Errorf("%s of %s: got %v and %v, want %v s", test.format, test.model, p, err, test.total)
		}
	}
}
