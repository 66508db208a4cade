package mde_test

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/engine"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// How the calibration workload is tried, and how far it may be off on an idle host.
const (
	calibrationPairs   = 50
	calibrationSlowed  = 20
	calibrationAgrees  = 0.05
	calibrationBetween = 48 // of the pairs, from run to run
)

// TestCalibrationNightly measures whether the calibration workload can testify: before and
// after a run on an idle host it takes the same time, from run to run as well, and a process
// that takes half of each processor shows. Virtual machines cannot promise that, because
// guests that they do not see share their processors: there the figures are printed,
// and a run must hold no calibration that could take a loss back. It needs an idle host: make mde.
func TestCalibrationNightly(t *testing.T) {
	testtier.Nightly(t)
	dir := quickstart(t)
	physical := device.Physical("")
	moved, within, between, slowed := 0, 0, 0, 0
	var first []float64
	for range calibrationPairs {
		before := calibration(t)
		run := quickRun(t, dir)
		after := calibration(t)
		moved += count(detect.CompareHost(before, after).Moved())
		within += count(agree(before, after))
		between += count(first == nil || agree(first, before))
		if first == nil {
			first = before
		}
		if (run.Calibration != nil) != physical {
			t.Fatalf("physical %v, calibration %+v", physical, run.Calibration)
		}
	}
	for range calibrationSlowed {
		stop := spin(runtime.NumCPU())
		got := calibration(t)
		stop()
		d := detect.CompareHost(first, got)
		slowed += count(d.Moved() && d.Change > 0.3)
	}
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("physical %v, load %s: before and after agree within 5 %% in %d of %d runs, CompareHost finds a change in %d; runs agree with the first in %d; a host slowed by half shows in %d of %d",
		physical, strings.TrimSpace(string(load)), within, calibrationPairs, moved, between, slowed, calibrationSlowed)
	if !physical {
		return
	}
	if within < calibrationPairs || moved > 0 || between < calibrationBetween || slowed < calibrationSlowed {
		t.Errorf("want %d, 0, %d and %d", calibrationPairs, calibrationBetween, calibrationSlowed)
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// agree reports whether medians differ by at most 5 %.
func agree(a, b []float64) bool {
	return math.Abs(detect.CompareHost(a, b).Change) <= calibrationAgrees
}

// calibration is what the calibration workload takes now, in ms.
func calibration(t *testing.T) []float64 {
	t.Helper()
	out, err := exec.Command("accelgate", "engine", "calibrate").Output()
	var c engine.Calibration
	if err == nil {
		err = json.Unmarshal(out, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c.Times
}

// quickstart is a folder with the quickstart.
func quickstart(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"accelgate.yaml"} {
		data, err := os.ReadFile(filepath.Join("..", "..", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "cases"), os.DirFS(filepath.Join("..", "..", "cases"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// quickRun measures one cell.
func quickRun(t *testing.T, dir string) *bench.Run {
	t.Helper()
	cmd := exec.Command("accelgate", "run", "--only", mdeCell, "--ab", "off")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(dir, ".accelgate", "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	run, err := bench.DecodeRun(data)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// spin keeps so many processors busy until it is stopped.
func spin(n int) (stop func()) {
	var all []*exec.Cmd
	for range n {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		if cmd.Start() == nil {
			all = append(all, cmd)
		}
	}
	time.Sleep(200 * time.Millisecond) // until each has a processor
	return func() {
		for _, cmd := range all {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
}
