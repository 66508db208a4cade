package detect_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
)

// quietCells have 0.2 % of noise and, in every run, what all of them share.
func quietCells(count, n int, common func(run int) float64) []detect.Cell {
	rng := rand.New(rand.NewPCG(3, 9))
	cells := make([]detect.Cell, count)
	for i := range cells {
		for run := -30; run < n; run++ {
			v := 50 * math.Exp(0.002*rng.NormFloat64()+common(run))
			if run < 0 {
				cells[i].Base = append(cells[i].Base, v)
			} else {
				cells[i].Head = append(cells[i].Head, v)
			}
		}
	}
	return cells
}

func still(int) float64 { return 0 }

func verdicts(r detect.Report) map[detect.Verdict]int {
	m := map[detect.Verdict]int{}
	for _, e := range r.Cells {
		m[e.Verdict]++
	}
	return m
}

// rejected is what a plain loss is called by n runs.
func rejected(n int) detect.Verdict {
	if n < 3 {
		return detect.Suspect
	}
	return detect.Regressed
}

// TestHostShift: what slows all cells down is seen once, and is seen.
func TestHostShift(t *testing.T) {
	t.Parallel()
	slow := func(run int) float64 {
		if run >= 0 {
			return 0.08
		}
		return 0
	}
	for _, n := range []int{1, 3, 5, 12} {
		r, want := detect.JudgeReport(quietCells(40, n, slow), 0), rejected(n)
		if r.Host.Verdict != want || math.Abs(r.Host.Estimate-math.Expm1(0.08)) > 0.005 || len(r.Shifts) != n {
			t.Errorf("n %d: host %+v, shifts %v", n, r.Host, r.Shifts)
		}
		if v := verdicts(r); v[detect.Regressed] > 0 || v[detect.Suspect] > 0 {
			t.Errorf("n %d: cells %v", n, v)
		}
		if r := detect.JudgeReport(quietCells(19, n, slow), 0); r.Host.Verdict != detect.Untested || r.Host.Reason == "" || verdicts(r)[want] != 19 {
			t.Errorf("n %d, few cells: host %+v, cells %v", n, r.Host, verdicts(r))
		}
		if r := detect.JudgeReport(quietCells(40, n, still), 0); r.Host.Verdict != detect.Unchanged {
			t.Errorf("n %d, nothing: host %+v", n, r.Host)
		}
	}
}

// TestBadNights: where the host moves by 5 % from night to night, a slow night is
// no news and no cell is blamed, and what is slow beyond it is found all the same.
func TestBadNights(t *testing.T) {
	t.Parallel()
	nights := func(run int) float64 { return 0.05 * math.Sin(float64(run*run)) }
	cells := quietCells(40, 1, func(run int) float64 { return nights(run + 2) })
	cells[7].Head[0] *= 1.05
	r := detect.JudgeReport(cells, 0)
	if v := verdicts(r); r.Cells[7].Verdict != detect.Suspect || v[detect.Suspect] != 1 || r.Host.Verdict == detect.Regressed || r.Host.Verdict == detect.Suspect {
		t.Errorf("host %+v, cell %+v, cells %v", r.Host, r.Cells[7], v)
	}
	if e := detect.Judge(cells[7].Base, cells[7].Head, detect.Options{}); e.Verdict == detect.Regressed {
		t.Errorf("the cell alone shows it as well, so this tests nothing: %+v", e)
	}
	leveled := detect.RemoveCommon(cells)
	if e := detect.Judge(leveled[7].Base, leveled[7].Head, detect.Options{}); e.Verdict != detect.Regressed {
		t.Errorf("without the common mode: %+v", e)
	}
}

// TestWeights: what noisy cells do hardly says what the host does.
func TestWeights(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 6))
	cells := quietCells(25, 1, still)
	for i := range 15 {
		for j := range cells[i].Base {
			cells[i].Base[j] *= math.Exp(0.05 * rng.NormFloat64())
		}
		cells[i].Head[0] *= 1.06
	}
	if r := detect.JudgeReport(cells, 0); len(r.Shifts) != 1 || math.Abs(r.Shifts[0]) > 0.005 {
		t.Errorf("shifts %v", r.Shifts)
	}
}

// TestGaps: NaN keeps runs in line, and a cell that was not measured is not judged.
func TestGaps(t *testing.T) {
	t.Parallel()
	jump := func(run int) float64 { return 0.04 * float64(run&1) }
	cells := quietCells(40, 1, jump)
	for i := range 15 {
		cells[i].Base[29-i%5] = math.NaN()
	}
	cells[20].Base = cells[20].Base[25:]
	cells[30].Head = []float64{math.NaN()}
	r := detect.JudgeReport(cells, 0)
	if v := verdicts(r); v[detect.Untested] != 1 || r.Cells[30].Verdict != detect.Untested || v[detect.Regressed]+v[detect.Suspect] > 0 {
		t.Errorf("%v", v)
	}
}

// TestHolm: in a report a p counts for less than alone, locks count as p = 1, and
// equal cells get equal verdicts.
func TestHolm(t *testing.T) {
	t.Parallel()
	cells := quietCells(200, 5, still)
	for i := range 3 {
		cells[i] = detect.Cell{Base: cells[0].Base, Head: []float64{52, 52.1, 52, 52.2, 52.1}}
	}
	r := detect.JudgeReport(cells, 0)
	if r.Cells[0].Verdict != detect.Regressed || r.Cells[1] != r.Cells[0] || r.Cells[2] != r.Cells[0] {
		t.Errorf("%+v", r.Cells[:3])
	}
	if q, p := r.Cells[0].Q, r.Cells[0].P; math.Abs(q-p*200) > 1e-12 {
		t.Errorf("q %v, p %v", q, p)
	}
	for i, e := range r.Cells[3:] {
		if e.Verdict == detect.Regressed || e.Q != 1 {
			t.Errorf("cell %d: %+v", i+3, e)
		}
	}

	if few := detect.JudgeReport(cells[:3], 0); few.Cells[0].Verdict != detect.Regressed {
		t.Errorf("%+v", few)
	}

	// A p that is enough alone, but not among so many.
	weak := quietCells(2000, 3, still)
	for i := range weak[0].Head {
		weak[0].Head[i] *= 1.009
	}
	weak[0].Options.MinEffect = 0.005
	alone := weak[0]
	alone.Options.Cross = 0.003
	if e := detect.Judge(alone.Base, alone.Head, alone.Options); e.Verdict != detect.Regressed {
		t.Fatalf("alone: %+v", e)
	}
	if e := detect.JudgeReport(weak, 0).Cells[0]; e.Verdict != detect.Suspect || e.Reason == "" {
		t.Errorf("among many: %+v", e)
	}
}

// TestPairReport: pairs of one report show how noisy it is, so that quiet ones
// show what pairs alone do not.
func TestPairReport(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 5))
	cells := make([]detect.Cell, 30)
	for i := range cells {
		cells[i].Options.Mode = detect.Interleaved
		for range 5 {
			cells[i].Base = append(cells[i].Base, 10*math.Exp(0.002*rng.NormFloat64()))
			cells[i].Head = append(cells[i].Head, 10*math.Exp(0.002*rng.NormFloat64()))
		}
	}
	for i := range cells[0].Head {
		cells[0].Head[i] *= 1.01
	}
	if e := detect.Judge(cells[0].Base, cells[0].Head, cells[0].Options); e.Verdict == detect.Regressed {
		t.Fatalf("alone: %+v", e)
	}
	r := detect.JudgeReport(cells, 0)
	if v := verdicts(r); r.Cells[0].Verdict != detect.Regressed || v[detect.Regressed] != 1 || r.PairCross < 0.0025 || r.PairCross > 0.0035 {
		t.Errorf("noise %v, %+v, %v", r.PairCross, r.Cells[0], v)
	}
}

// TestNothing: a report of nothing is one.
func TestNothing(t *testing.T) {
	t.Parallel()
	if r := detect.JudgeReport(nil, 0); len(r.Cells) != 0 || r.Host.Verdict != detect.Untested {
		t.Errorf("%+v", r)
	}
	if r := detect.JudgeReport(make([]detect.Cell, 50), 0); len(r.Cells) != 50 || r.Cells[0].Verdict != detect.Untested || r.Host.Verdict != detect.Untested {
		t.Errorf("%+v", r)
	}
}

// TestMDE: what is stated to be found in 4 of 5 cases is found so often, and half
// of it is never an improvement.
func TestMDE(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(n int, noise, factor float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = factor * math.Exp(noise*rng.NormFloat64())
		}
		return v
	}
	const trials = 1000
	for _, noise := range []float64{0.001, 0.003, 0.01, 0.03, 0.1} {
		for _, n := range []int{3, 5, 7, 10} {
			var mde, found, alarms, bare float64
			o := detect.Options{Mode: detect.Interleaved}
			for range trials {
				e := detect.Judge(draw(n, noise, 1), draw(n, noise, 1), o)
				mde += math.Log1p(e.MDE) / trials
				if e.Verdict == detect.Regressed {
					alarms += 100. / trials
				}
			}
			for range trials {
				if detect.Judge(draw(n, noise, 1), draw(n, noise, math.Exp(mde)), o).Verdict == detect.Regressed {
					found += 100. / trials
				}
				if detect.Judge(draw(n, noise, 1), draw(n, noise, math.Exp(mde/2)), o).Verdict == detect.Improved {
					bare++
				}
			}
			if found < 75 || found > 95 || alarms > 3 || bare > 0 {
				t.Errorf("noise %v, %d pairs: %.1f %% found at %.2f %%, %.1f %% false alarms, %v improved by half", noise, n, found, 100*mde, alarms, bare)
			}
		}
	}
}

// TestApart: of cells that are not of one run, nothing is taken out, and all else is
// as in a report.
func TestApart(t *testing.T) {
	t.Parallel()
	slow := func(run int) float64 {
		if run >= 0 {
			return 0.08
		}
		return 0
	}
	r := detect.JudgeApart(quietCells(40, 1, slow), 0)
	if v := verdicts(r); v[detect.Suspect] != 40 || r.Cross == 0 || len(r.Shifts) != 0 {
		t.Errorf("%v, %+v", v, r.Host)
	}
	if r.Host.Verdict != detect.Untested || r.Host.Reason == "" {
		t.Errorf("host %+v", r.Host)
	}
	g := detect.JudgeGroup(quietCells(40, 1, slow), 0)
	if v := verdicts(g); v[detect.Suspect] != 40 || g.Host.Verdict != detect.Suspect || len(g.Shifts) != 0 {
		t.Errorf("a group that moved: %v, %+v", v, g.Host)
	}
	if g := detect.JudgeGroup(quietCells(40, 1, still), 0); len(g.Shifts) != 1 || verdicts(g)[detect.Regressed] != 0 {
		t.Errorf("a group that did not: %+v", g.Host)
	}
	few := quietCells(40, 1, slow) // so few runs do not show what moves all of them
	for i := range few {
		few[i].Base = few[i].Base[27:]
	}
	if g := detect.JudgeGroup(few, 0); g.Host.Verdict != detect.Untested || len(g.Shifts) != 0 || verdicts(g)[detect.Suspect] != 40 {
		t.Errorf("a group that moved, after three runs: %v, %+v", verdicts(g), g.Host)
	}
	want := detect.JudgeReport(quietCells(10, 1, slow), 0) // too few for one run, too
	for i, e := range detect.JudgeApart(quietCells(10, 1, slow), 0).Cells {
		if e != want.Cells[i] {
			t.Errorf("%+v, want %+v", e, want.Cells[i])
		}
	}
}
