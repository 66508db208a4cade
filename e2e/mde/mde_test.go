package mde_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/e2e/script"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// mdeCell is the cell of the quickstart that the trials measure.
const mdeCell = "tiny__cpu__tg64__baseline"

func TestMain(m *testing.M) { script.Main(m) }

// TestMDENightly holds that the minimum detectable effects which are stated are true.
// Before measuring, calibrate promises a range: 5 pairs of the embedded engine find a
// slow-down of its upper end in at least 7 of 10 trials. After measuring, each
// verdict states one: pairs of unchanged code find it in about 4 of 5 trials when their
// heads are slowed down by it. Pairs rarely call unchanged code slower. It measures for minutes and needs a
// quiet machine: make mde. ACCELGATE_MDE is the number of trials.
func TestMDENightly(t *testing.T) {
	testtier.Nightly(t)
	trials, err := strconv.Atoi(cmp.Or(os.Getenv("ACCELGATE_MDE"), "100"))
	if err != nil || trials < 1 {
		t.Fatal("ACCELGATE_MDE is not a number of trials")
	}
	dir := t.TempDir()
	config, err := os.ReadFile(filepath.Join("..", "..", "accelgate.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const policy = "threshold: 10% #"
	once := strings.Replace(string(config), policy, "threshold: 2%\n  remeasure: 0 #", 1) // one look
	if once == string(config) {
		t.Fatal("accelgate.yaml no longer holds what the test changes")
	}
	if err := os.WriteFile(filepath.Join(dir, "accelgate.yaml"), []byte(once), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "cases"), os.DirFS(filepath.Join("..", "..", "cases"))); err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	if err := os.CopyFS(base, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	m := mde{t, dir, base}
	levels := []struct {
		name             string
		end              int // of the promised range; -1 is unchanged code
		minimum, maximum int // alarms of 100
	}{{"unchanged", -1, 0, 3}, {"the lower end", 0, 0, 100}, {"the upper end", 1, 70, 100}}
	findings := make([]map[gate.Finding]int, len(levels))
	var stated [][2]float64
	conditional := 0
	for seed := range trials {
		if seed%block == 0 { // a machine that others use is another one some minutes later
			stated = append(stated, m.calibrate().PairsRange)
		}
		for i, level := range levels {
			slower := 0.0
			if level.end >= 0 {
				slower = stated[len(stated)-1][level.end]
			}
			run := m.trial(seed+1, slower)
			v := m.judge(run)
			if level.end < 0 && m.judge(slowed(run, v.Evidence.MDE)).Finding == gate.Regressed {
				conditional++
			}
			if findings[i] == nil {
				findings[i] = map[gate.Finding]int{}
			}
			findings[i][v.Finding]++
			if v.Evidence.MDE <= 0 || !v.Evidence.InPairs {
				t.Errorf("%s: a verdict without an MDE: %+v", level.name, v)
			}
		}
	}
	t.Logf("calibrate promised for 5 pairs, in percent: %.2f", stated)
	t.Logf("%d of %d unchanged trials find what they state, once they are slowed down by it", conditional, trials)
	if 100*conditional < 70*trials {
		t.Errorf("%d of %d trials find what they state, want 70 of 100", conditional, trials)
	}
	for i, level := range levels {
		n := findings[i][gate.Regressed]
		t.Logf("%-16s %d of %d called slower; %v", level.name, n, trials, findings[i])
		if 100*n < level.minimum*trials || 100*n > level.maximum*trials {
			t.Errorf("%s: %d of %d called slower, want %d to %d of 100", level.name, n, trials, level.minimum, level.maximum)
		}
	}
}

// block is how many trials of each level follow one calibration.
const block = 10

type mde struct {
	t         *testing.T
	dir, base string
}

type statedMDE struct {
	Cell       string     `json:"cell"`
	PairsRange [2]float64 `json:"pairs_mde_range"`
}

func (m mde) calibrate() statedMDE {
	var found struct {
		Cells []statedMDE `json:"cells"`
	}
	out := m.run("calibrate", "--only", mdeCell, "--rounds", "60", "--json")
	if err := json.Unmarshal(out, &found); err != nil || len(found.Cells) != 1 || found.Cells[0].PairsRange[0] <= 0 {
		m.t.Fatalf("%v: %s", err, out)
	}
	return found.Cells[0]
}

// trial measures 5 pairs, the head slowed down.
func (m mde) trial(seed int, slower float64) *bench.Run {
	args := []string{"run", "--ab", m.base, "--pairs", "5", "--pair-seed", strconv.Itoa(seed), "--only", mdeCell, "--suite", "quickstart", "--health", "off"}
	if slower > 0 {
		args = append(args, "--inject-slowdown", fmt.Sprintf("decode=%.4f%%", slower))
	}
	m.run(args...)
	data, err := os.ReadFile(filepath.Join(m.dir, ".accelgate", "run.json"))
	if err != nil {
		m.t.Fatal(err)
	}
	run, err := bench.DecodeRun(data)
	if err != nil {
		m.t.Fatal(err)
	}
	return run
}

// slowed takes so many percent off the rates of the head.
func slowed(run *bench.Run, percent float64) *bench.Run {
	for i := range run.Results {
		for k := range run.Results[i].Samples {
			s := &run.Results[i].Samples[k]
			for j := range s.Values {
				s.Values[j] *= 1 - percent/100
			}
		}
	}
	return run
}

// judge judges the pairs once.
func (m mde) judge(run *bench.Run) gate.Verdict {
	c := gate.Compare("", nil, run, gate.Policy{Threshold: 2, MinEffect: 2, OneLook: true})
	for _, v := range c.Verdicts {
		if v.Metric == "decode_tps" {
			return v
		}
	}
	m.t.Fatalf("no verdict: %+v", c.Verdicts)
	return gate.Verdict{}
}

func (m mde) run(args ...string) []byte {
	cmd := exec.Command("accelgate", args...)
	cmd.Dir = m.dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() != 1:
		m.t.Fatalf("accelgate %v: %v: %s", args, err, exit.Stderr)
	case err != nil && exit == nil:
		m.t.Fatalf("accelgate %v: %v", args, err)
	}
	return out
}
