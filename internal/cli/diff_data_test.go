package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/cli"
	"github.com/accelgate/accelgate/internal/exit"
)

// TestDiffOfTheOriginal compares published envelopes by InferenceBench's rules:
// context, verdicts and numbers must be those that its own code gave.
func TestDiffOfTheOriginal(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testData(t), "inferencebench")
	data, err := os.ReadFile(filepath.Join(dir, "diff-oracle-pairs.json"))
	if err != nil {
		t.Fatal(err)
	}
	var pairs []struct {
		Baseline  string                     `json:"baseline"`
		Candidate string                     `json:"candidate"`
		Tolerance float64                    `json:"tolerance"`
		Context   map[string]json.RawMessage `json:"context_match"`
		Cells     [][]string                 `json:"cells"`
	}
	if err := json.Unmarshal(data, &pairs); err != nil || len(pairs) != 5 {
		t.Fatal(len(pairs), err)
	}
	for _, pair := range pairs {
		var stdout, stderr bytes.Buffer
		c := cli.Command{Stdin: &stdout, Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: time.Now}
		code := c.Main(t.Context(), []string{"diff", "--compat", "inferencebench", "--tolerance", strconv.FormatFloat(pair.Tolerance, 'g', -1, 64), "--format", "json",
			filepath.Join(dir, pair.Baseline), filepath.Join(dir, pair.Candidate)})
		if code != exit.Passed {
			t.Errorf("%s and %s: exit code %d: %s", pair.Baseline, pair.Candidate, code, &stderr)
			continue
		}
		var got struct {
			Context map[string]json.RawMessage `json:"context_match"`
			Metrics []struct{ Name, Verdict string }
		}
		if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		verdicts := map[string]string{}
		for _, m := range got.Metrics {
			verdicts[m.Name] = m.Verdict
		}
		if len(verdicts) != len(pair.Cells) {
			t.Errorf("%s and %s: %d metrics, want %d", pair.Baseline, pair.Candidate, len(verdicts), len(pair.Cells))
		}
		for _, row := range pair.Cells {
			if verdicts[row[0]] != row[len(row)-1] {
				t.Errorf("%s and %s: %s is %s, want %s", pair.Baseline, pair.Candidate, row[0], verdicts[row[0]], row[len(row)-1])
			}
		}
		if !reflect.DeepEqual(plainJSON(t, got.Context), plainJSON(t, pair.Context)) {
			t.Errorf("%s and %s: context %s, want %s", pair.Baseline, pair.Candidate, got.Context, pair.Context)
		}
	}
}

func plainJSON(t *testing.T, v any) (plain any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &plain)
	}
	if err != nil {
		t.Fatal(err)
	}
	return plain
}
