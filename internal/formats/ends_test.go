package formats_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/formats"
)

// TestFormatIsFoundAtTheEnds: lines of dashes are the text that the expressions look at for the longest time.
func TestFormatIsFoundAtTheEnds(t *testing.T) {
	const line = "\nBenchmarkX-2 \t 100\t 12.5 ns/op\n"
	dull := strings.Repeat(strings.Repeat("-", 79)+"\n", 15000) // 1.2 MB
	for name, c := range map[string]struct {
		data  string
		found bool
	}{
		"beginning": {line + dull + dull, true}, "end": {dull + dull + line, true}, "middle": {dull + line + dull, false}, "short": {dull[:1000] + line + dull[:1000], true},
	} {
		_, format, _, err := formats.ReadFile([]byte(c.data))
		if found := err == nil && format == "gobench"; found != c.found || !found && !strings.Contains(err.Error(), "--format") {
			t.Errorf("%s: format %q, %v, want found %v", name, format, err, c.found)
		}
		if run, _, _, err := formats.ReadFileAs("gobench", []byte(c.data)); err != nil || len(run.Results) != 1 {
			t.Errorf("%s, named: %v", name, err)
		}
	}
}
