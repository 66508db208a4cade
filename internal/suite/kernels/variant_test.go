package kernels

import (
	"fmt"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
)

// TestTrafficAndOddShapes: all bytes count where everything is read, and other
// shapes are tried where the definition alone says what fits together.
func TestTrafficAndOddShapes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		definition, workload string
		bytes                int
		odd                  string // shapes of the first input
	}{
		{"gemm_n128_k256", "m1", 2 * (1*256 + 128*256 + 1*128), "[37 256] [13 256]"},
		{"gqa_paged_decode_h8_kv2_d64_ps16", "*", 0, ""},
		{"top_k_sampling_from_probs_v256", "*", 0, ""},
	} {
		s := mustOpen(t, t.TempDir(), fmt.Sprintf("reference: go\nmax_workloads: 1\ndefinitions: [%s]\nworkloads: ['%s']\n", c.definition, c.workload))
		got, err := s.kase(s.points[0])
		if err != nil {
			t.Fatal(err)
		}
		shapes := ""
		for i, odd := range got.Odd {
			if i > 0 {
				shapes += " "
			}
			shapes += fmt.Sprint(odd.Inputs[0].Shape)
			if len(odd.Outputs) != len(got.Outputs) || odd.Definition != got.Definition {
				t.Errorf("%s: %+v is another case", c.definition, odd)
			}
		}
		if got.Bytes != c.bytes || shapes != c.odd {
			t.Errorf("%s: %d bytes and the shapes %q, want %d and %q", c.definition, got.Bytes, shapes, c.bytes, c.odd)
		}
	}
}

// TestInconclusiveIsTheHosts: a host that is too busy has failed, and not the
// solution, so that the measurement is repeated.
func TestInconclusiveIsTheHosts(t *testing.T) {
	t.Parallel()
	for status, infrastructure := range map[flashinfer.Status]bool{flashinfer.Inconclusive: true, flashinfer.Suspect: false, flashinfer.RuntimeError: false} {
		if outcome, cause := status.Outcome(); outcome != bench.Failed || cause.Infrastructure() != infrastructure {
			t.Errorf("%s: %s, %s", status, outcome, cause)
		}
	}
}
