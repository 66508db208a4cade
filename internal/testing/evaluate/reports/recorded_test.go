package reports_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	detectors "github.com/accelgate/accelgate/internal/testing/evaluate/detection"
	"github.com/accelgate/accelgate/internal/testing/evaluate/reports"
)

// TestRecorded evaluates what accelgate calibrate --record wrote, where
// ACCELGATE_RECORDED names it, and prints the tables; else a generated recording.
func TestRecorded(t *testing.T) {
	t.Parallel()
	if path := os.Getenv("ACCELGATE_RECORDED"); path != "" {
		all, err := detectors.LoadRecorded(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reports.Recorded(os.Stdout, all); err != nil {
			t.Fatal(err)
		}
		return
	}
	dir := t.TempDir()
	recordNoise(t, filepath.Join(dir, "pairs-desk.jsonl"), 6, 5)
	all, err := detectors.LoadRecorded(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reports.Recorded(nil, all[:20]); err == nil {
		t.Error("25 pairs of a cell were evaluated, want a refusal")
	}
	rates, err := reports.Recorded(nil, all)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "a recording", rates, aim{0, []float64{0, 20, 95, 100}, 9})
	if rates.Red.Of != 1 || rates.Cells != 4 {
		t.Errorf("%d reports of %d cells, want 1 of 4", rates.Red.Of, rates.Cells)
	}
}

// recordNoise writes sessions of four cells, each of so many pairs, with noise of
// 2 % around levels that differ by session.
func recordNoise(t *testing.T, path string, sessions, pairs int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	e := json.NewEncoder(f)
	for session := range sessions {
		for cell := range 4 {
			level := math.Exp(0.05 * rng.NormFloat64())
			p := detectors.Paired{Session: session, Host: "desk", Workload: fmt.Sprint("cell ", cell)}
			for range pairs {
				p.A, p.B = append(p.A, level*math.Exp(0.02*rng.NormFloat64())), append(p.B, level*math.Exp(0.02*rng.NormFloat64()))
			}
			if err := e.Encode(p); err != nil {
				t.Fatal(err)
			}
		}
	}
}
