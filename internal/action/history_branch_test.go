package action

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/history"
)

// TestCloneOfTheHistoryBranchIsBounded keeps a day of runs, scaled down, and
// projects the bytes of a clone. The branch is one commit
// (TestReviseMakesABranchOfItsOwn), so a clone is the compressed files.
func TestCloneOfTheHistoryBranchIsBounded(t *testing.T) {
	t.Parallel()
	const cells, runs, keep = 70, 50, 40
	r := recordingOnBranch{now: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), maximum: keep, hide: func(s string) string { return s }}
	files := map[string][]byte{}
	for n := range runs {
		r.runs = []*bench.Run{noisyRun(n, cells)}
		after, err := r.edit(files)
		if err != nil || len(r.troubles) > 0 {
			t.Fatal(err, r.troubles)
		}
		files = after
	}
	if r.kept != keep {
		t.Errorf("%d runs are on the branch, want %d", r.kept, keep)
	}
	const hosts, realCells, realKeep, maximum = 20, 700, history.MaxRuns, 200_000_000
	size := compressed(t, files[history.Name("desk")])
	clone := size * hosts * realCells / cells * realKeep / keep
	t.Logf("%d bytes for %d runs of %d cells; a clone of %d hosts with %d runs of %d cells takes %d MB", size, keep, cells, hosts, realKeep, realCells, clone/1_000_000)
	if clone > maximum {
		t.Errorf("a clone takes %d bytes, want at most %d", clone, maximum)
	}
}

// noisyRun has two metrics with three values each, of as many digits as are kept.
func noisyRun(n, cells int) *bench.Run {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	values := func(scale float64) []float64 {
		return []float64{scale * random.ExpFloat64(), scale * random.ExpFloat64(), scale * random.ExpFloat64()}
	}
	run := &bench.Run{Schema: bench.RunSchema, Revision: fmt.Sprintf("%040x", random.Uint64()), Started: time.Date(2026, 1, 1, 0, n, 0, 0, time.UTC),
		Host:    bench.Host{Label: "desk", Fingerprint: bench.Fingerprint{OS: "linux", CPU: "EPYC 9354", Cores: 32}},
		Metrics: []bench.Metric{{Name: "decode_tps", Unit: "tok/s", Better: bench.Higher}, {Name: "ttft_ms", Unit: "ms", Better: bench.Lower}}}
	for i := range cells {
		run.Results = append(run.Results, bench.Result{Cell: bench.Cell{Raw: fmt.Sprintf("model-%d__cuda__tg128__env-kv-q8", i)}, Outcome: bench.Passed,
			Samples: []bench.Sample{{Metric: "decode_tps", Values: values(100)}, {Metric: "ttft_ms", Values: values(10)}}})
	}
	return run
}

// compressed is the size of a file in a pack without deltas.
func compressed(t *testing.T, data []byte) int {
	t.Helper()
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}
