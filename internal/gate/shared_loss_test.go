package gate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// sharedLoss returns both sides of a report in which each of so many cells became
// slower by a share, on one road.
func sharedLoss(road gate.Method, cells int, share func(cell int) float64) (ref, got *bench.Run) {
	r := rand.New(rand.NewPCG(18, 6))
	var before, now []bench.Result
	for i := range cells {
		id, slow := fmt.Sprint("c", i), 100*(1+share(i))
		switch road {
		case gate.MethodPairs:
			now = append(now, inTurns(id, noisy(r, slow, 0.004, 30), noisy(r, 100, 0.004, 30)))
		case gate.MethodHistory:
			before, now = append(before, withHistory(id, 100, noisy(r, 100, 0.004, 12))), append(now, inTurns(id, noisy(r, slow, 0.004, 3), nil))
			now[i].Sessions = 3
		default:
			before, now = append(before, withHistory(id, 100, nil)), append(now, inTurns(id, noisy(r, slow, 0.004, 3), nil))
		}
	}
	if got = run(now...); before != nil {
		ref = run(before...)
	}
	return ref, got
}

func by(share float64) func(int) float64 {
	return func(cell int) float64 { return share + 0.01*float64(cell%3-1) }
}

// TestASharedLossIsOneFinding: a program that is slower everywhere gave as many
// findings as there were cells, on all roads.
func TestASharedLossIsOneFinding(t *testing.T) {
	for _, road := range []gate.Method{gate.MethodPairs, gate.MethodHistory, gate.MethodSessions} {
		for _, share := range []float64{0.15, 0.5} {
			ref, got := sharedLoss(road, 8, by(share))
			c := gate.Compare("b", ref, got, gate.DefaultPolicy())
			if len(c.SharedLosses) != 1 {
				t.Errorf("%s, %v: %+v\n%s", road, share, c.SharedLosses, lines(c))
				continue
			}
			a := c.SharedLosses[0]
			if a.Cells != 8 || a.Of != 8 || a.Metric != "ttft_ms" || -a.Delta < 100*share-2 || -a.Delta > 100*share+2 || a.Interval[0] > a.Delta || a.Interval[1] < a.Delta {
				t.Errorf("%s, %v: %+v", road, share, a)
			}
			if v := verdictOf(t, c, a.Cell); v.SharedLoss != 1 || v.Evidence.Method != road {
				t.Errorf("%s, %v: it stands for the others: %+v", road, share, v)
			}
			if want := map[bool]gate.Witness{true: gate.HostUnchanged, false: gate.HostUnknown}[road == gate.MethodPairs]; a.Witness != want {
				t.Errorf("%s: witness %s, want %s", road, a.Witness, want)
			}
		}
	}
}

// TestLossesThatAreNotShared holds that single losses, different ones and those of
// unchanged cells keep their own findings.
func TestLossesThatAreNotShared(t *testing.T) {
	for name, share := range map[string]func(int) float64{
		"one":       func(cell int) float64 { return 0.5 * float64((8-cell)/8) },
		"six of 8":  func(cell int) float64 { return map[bool]float64{true: 0.5}[cell < 6] },
		"different": func(cell int) float64 { return 0.12 * float64(int(1)<<cell) },
		"none":      func(int) float64 { return 0 },
		"faster":    func(int) float64 { return -0.3 },
	} {
		for _, road := range []gate.Method{gate.MethodPairs, gate.MethodHistory, gate.MethodSessions} {
			ref, got := sharedLoss(road, 8, share)
			c := gate.Compare("b", ref, got, gate.DefaultPolicy())
			for i := range c.Verdicts {
				if len(c.SharedLosses) != 0 || c.Verdicts[i].SharedLoss != 0 {
					t.Fatalf("%s, %s: %+v", name, road, c.SharedLosses)
				}
			}
		}
	}
}

// TestTheCalibrationWorkloadIsTheWitness of a loss that all cells share.
func TestTheCalibrationWorkloadIsTheWitness(t *testing.T) {
	quiet, slower, faster := []float64{10, 10.01, 9.99, 10, 10.02}, []float64{12, 12.01, 11.99, 12, 12.02}, []float64{8, 8.01, 7.99, 8, 8.02}
	for _, test := range []struct {
		name string
		now  []float64
		want gate.Witness
		says string
	}{
		{"as before", quiet, gate.HostUnchanged, "the host did not change, so the code or its environment did"},
		{"slower", slower, gate.HostChanged, "moved by 20.0 % since the baseline was recorded: the host changed, which may be all of it"},
		{"faster", faster, gate.HostChanged, "did not cause the loss"},
		{"unknown", nil, gate.HostUnknown, "--ab"},
	} {
		ref, got := sharedLoss(gate.MethodSessions, 8, by(0.15))
		ref.Calibration = &bench.Calibration{Before: quiet[:1]}
		if test.now != nil {
			got.Calibration = &bench.Calibration{Before: test.now, After: test.now}
		}
		c := gate.Compare("b", ref, got, gate.DefaultPolicy())
		if len(c.SharedLosses) != 1 || c.SharedLosses[0].Witness != test.want || !strings.Contains(c.SharedLosses[0].Reason, test.says) {
			t.Errorf("%s: %+v", test.name, c.SharedLosses)
		}
	}
	ref, got := sharedLoss(gate.MethodSessions, 8, by(1))
	ref.Calibration, got.Calibration = &bench.Calibration{Before: quiet[:1]}, &bench.Calibration{Before: slower}
	if c := gate.Compare("b", ref, got, gate.DefaultPolicy()); len(c.SharedLosses) != 1 || !strings.Contains(c.SharedLosses[0].Reason, "not all of it") {
		t.Errorf("far more than the host: %+v", c.SharedLosses)
	}
}
