package energy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecordedNVIDIA reads what scripts/gpu.sh recorded of a real GPU where ACCELGATE_GPU_FIXTURES names its folder, and
// those of an H100 without it.
func TestRecordedNVIDIA(t *testing.T) {
	folder := os.Getenv("ACCELGATE_GPU_FIXTURES")
	if folder == "" {
		folder = "../testdata/h100"
	}
	for _, name := range []string{"power.csv", "power-instant.csv"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		found, powered := parseProbe(text)
		if len(found) == 0 {
			t.Errorf("%s: no GPU was read of\n%.500s", name, text)
		}
		for _, g := range found {
			if !powered[g.UUID] {
				t.Errorf("%s: GPU %s reports no power", name, g.Index)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, "samples.csv"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if _, uuid, watts, ok := parseSample(line); ok && uuid != "" && watts > 0 {
			n++
		}
	}
	if n < 3 {
		t.Errorf("%d samples were read of\n%.500s", n, text)
	}
}
