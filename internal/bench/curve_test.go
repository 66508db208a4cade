package bench

import (
	"math"
	"strings"
	"testing"
)

func TestCurve(t *testing.T) {
	t.Parallel()
	curve := Curve{{Load: 8, Rate: 8, TTFT: 20}, {Load: 32, Rate: 30, TTFT: 25}, {Load: 16, Rate: 16, TTFT: 21}, {Load: 64, Rate: 31, TTFT: 900}, {Load: 4}}
	knee, found := curve.Knee()
	if !found || knee.Load != 32 {
		t.Errorf("knee %+v, %t", knee, found)
	}
	if sorted := curve.ByLoad(); sorted[0].Load != 4 || sorted[4].Load != 64 || curve[0].Load != 8 {
		t.Errorf("sorted %+v of %+v", sorted, curve)
	}
	if s := curve.Summary(); s != "5 probes; knee at load 32: 30 req/s at a TTFT p95 of 25 ms" {
		t.Error(s)
	}
	if _, found := (Curve{{Load: 1}}).Knee(); found {
		t.Error("a knee without numbers")
	}
	r := Result{Cell: Cell{Raw: "c"}, Outcome: Passed, Curve: curve}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	for _, bad := range []Curve{{{Load: -1}}, {{Load: 1, TTFT: math.Inf(1)}}, make(Curve, MaxCurve+1)} {
		r.Curve = bad
		if err := r.Validate(); err == nil || !strings.Contains(err.Error(), "curve") {
			t.Errorf("%d points: %v", len(bad), err)
		}
	}
}
