package formats_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats"
)

// doors are the metrics of a suite's parser, and those of an import that are the
// same quantity.
var doors = map[string]string{
	"prefill_tps": "prefill_tps", "decode_tps": "decode_tps", "combined_tps": "combined_tps",
	"throughput_tps": "throughput_tok_per_s", "input_throughput_tps": "input_tok_per_s", "request_rate_achieved": "req_per_s_all",
	"ttfc_p50_ms": "ttfc_p50_ms", "ttfc_p99_ms": "ttfc_p99_ms", "ttft_p50_ms": "ttft_p50_ms", "ttft_p99_ms": "ttft_p99_ms",
	"tpot_p50_ms": "tpot_p50_ms", "tpot_p99_ms": "tpot_p99_ms", "itl_p50_ms": "icl_p50_ms", "itl_p99_ms": "icl_p99_ms",
	"e2e_p50_ms": "e2e_p50_ms", "e2e_p99_ms": "e2e_p99_ms", "e2e_queued_p50_ms": "e2e_sched_p50_ms", "e2e_queued_p99_ms": "e2e_sched_p99_ms",
}

// TestBothDoorsReadAlike reads every testdata/doors/PARSER/NAME.json as the
// output of a suite's program and as an imported file. Each is the result of one
// test or run. The golden file lists each quantity once, so two numbers for one
// quantity cannot be recorded: 22.79 and 20.55 tok/s of one llama-bench file
// were a regression.
func TestBothDoorsReadAlike(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "doors", "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimPrefix(file, filepath.Join("testdata", "doors")), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := bothDoors(t, filepath.Base(filepath.Dir(file)), data)
			name := strings.TrimSuffix(file, ".json") + ".golden"
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func bothDoors(t *testing.T, parser string, data []byte) string {
	t.Helper()
	reading, suiteErr := formats.Outputs[parser](formats.Output{Stdout: data})
	run, format, _, err := formats.ReadFile(data)
	if err != nil || format != parser || len(run.Results) != 1 {
		t.Fatalf("import: format %q, %v, want one result of %s", format, err, parser)
	}
	result := run.Results[0]
	if suiteErr != nil {
		if result.Outcome == bench.Passed || result.Reason != suiteErr.Error() {
			t.Errorf("the suite reports %q, the import is %s: %q", suiteErr, result.Outcome, result.Reason)
		}
		return fmt.Sprintf("%s: %v\n", result.Outcome, suiteErr)
	}
	var b strings.Builder
	fmt.Fprintln(&b, result.Outcome)
	for _, v := range reading.Values {
		if name := doors[v.Metric]; name == "" {
			fmt.Fprintln(&b, v.Metric, strconv.FormatFloat(v.Value, 'g', -1, 64), "(suite only)")
		} else if s := result.Sample(name); s == nil || !slices.Equal(s.Values, []float64{v.Value}) {
			t.Errorf("%s is %v in the suite, and %s is %+v in the import", v.Metric, v.Value, name, s)
		} else {
			fmt.Fprintln(&b, v.Metric, strconv.FormatFloat(v.Value, 'g', -1, 64), "=", name)
		}
	}
	return b.String()
}
