package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/cli"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestReplayOfTheOriginal judges the recorded tables that msmodeling's own
// checker judged: standard output must be the original's to the last byte, and
// the failing cases and their messages the same.
func TestReplayOfTheOriginal(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testData(t), "msmodeling", "golden_regression")
	var stdout, stderr bytes.Buffer
	c := cli.Command{Stdin: &stdout, Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: time.Now}
	code := c.Main(t.Context(), []string{"cases", "replay", "--compat", "msmodeling@84fec85",
		"--cases", filepath.Join(dir, "cases"), "--tables", filepath.Join(dir, "tables")})
	if code != exit.GateFailed {
		t.Errorf("exit code %d, the original's is 1: %s", code, &stderr)
	}
	want, err := os.ReadFile(filepath.Join(dir, "stdout.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stdout.Bytes(), want) {
		t.Errorf("standard output is not the original's:\n%s", firstDifference(stdout.String(), string(want)))
	}
	original, err := os.ReadFile(filepath.Join(dir, "stderr.txt"))
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := anomalies(stderr.String()), anomalies(string(original))
	if !slices.Equal(got, wanted) || len(wanted) != 5 {
		t.Errorf("failures:\n%s\nthe original's:\n%s", strings.Join(got, "\n"), strings.Join(wanted, "\n"))
	}
}

// anomalies returns the messages about failing cases, sorted.
func anomalies(text string) (found []string) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !strings.HasSuffix(line, "Total time regression anomaly detected!") {
			continue
		}
		message := line
		for _, more := range lines[i+1:] {
			if !strings.HasPrefix(more, "  ") {
				break
			}
			message += "\n" + more
		}
		found = append(found, message)
	}
	slices.Sort(found)
	return found
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got  " + g[i] + "\nwant " + w[i]
		}
	}
	return "one of the two is longer"
}

// testData is the folder of real data, which users do not have.
func testData(t *testing.T) string {
	t.Helper()
	return testtier.Data(t, "the original's output was NOT compared", "msmodeling/golden_regression")
}
