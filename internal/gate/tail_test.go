package gate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/gate"
)

// TestDoubtOfOneNumber: a number that its own measurement doubts is undecided,
// and the others of its cell are judged.
func TestDoubtOfOneNumber(t *testing.T) {
	t.Parallel()
	got := cell("a", "decode_tps", 5.0, "ttft_ms", 90.0)
	got.Samples[1].Caveat = "one request in a hundred was sent late"
	ref := run(cell("a", "decode_tps", 9.0, "ttft_ms", 9.0))
	want := []string{"a decode_tps regressed blocks -44.44", "a ttft_ms incomparable ?repeats 0"}
	if diff := cmp.Diff(want, lines(gate.Compare("base", ref, run(got), gate.DefaultPolicy()))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i := range ref.Results[0].Samples {
		ref.Results[0].Samples[i].History = [][]float64{{9}, {9.01}, {9}, {9.02}, {9}}
	}
	c := gate.Compare("base", ref, run(got), gate.DefaultPolicy())
	if v := c.Verdicts[len(c.Verdicts)-1]; v.Metric != "ttft_ms" || !v.Undecided() || !v.Reserved() {
		t.Errorf("against earlier runs: %+v", v)
	}
}
