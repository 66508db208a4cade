package harness

import (
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
)

// TestImplausibleCalls holds recorded times against those of a copy.
func TestImplausibleCalls(t *testing.T) {
	t.Parallel()
	const copying = 1e6 // nanoseconds
	for name, c := range map[string]struct {
		call, theirs float64
		bytes        int
		device       string
		want         evaluator.Status
	}{
		"faster than memory":          {1e5, 2e6, 1 << 24, "cpu", evaluator.Suspect},
		"as fast as a copy":           {1e6, 2e6, 1 << 24, "cpu", evaluator.Passed},
		"reading is faster":           {4e5, 2e6, 1 << 24, "cpu", evaluator.Passed},
		"the reference is that fast":  {1e5, 2e5, 1 << 24, "cpu", evaluator.Passed},
		"nothing says what is read":   {1e5, 2e6, 0, "cpu", evaluator.Passed},
		"memory of another device":    {1e5, 2e6, 1 << 24, "cuda", evaluator.Passed},
		"below what a clock can tell": {1, 2e6, 1 << 10, "cpu", evaluator.Passed},
	} {
		side := func(slope float64) *side {
			return &side{Session: &Session{hello: HelloReply{Devices: []Device{{Kind: c.device}}}}, timing: &Timing{Values: []float64{slope}}}
		}
		p := &trialProtocol{Case: Case{Bytes: c.bytes}, solution: side(c.call), reference: side(c.theirs), copying: copying}
		if c.bytes == 1<<10 {
			p.copying = 100
		}
		if d := p.implausible(); d.verdict() != c.want {
			t.Errorf("%s: %s, %+v", name, d.verdict(), d)
		}
	}
}

// TestCopyBy copies by any number of threads, also more than there are bytes.
func TestCopyBy(t *testing.T) {
	t.Parallel()
	from := []byte("0123456789abcdef")
	for threads := range 20 {
		to := make([]byte, len(from))
		if copyBy(threads+1, to, from); string(to) != string(from) {
			t.Errorf("%d threads: %q", threads+1, to)
		}
	}
}
