//go:build unix

package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkJudgeLines judges 100,000 cells with 30 runs of history each in a process
// of its own, which may take 10 s and 1 GB on two cores. "floor-s" is decoding the
// same lines with encoding/json and nothing else, "ratio" the command over it,
// "cpu-s" the processor time that the command took, and "peak-MB" its memory.
func BenchmarkJudgeLines(b *testing.B) {
	const cells, runs = 100_000, 30
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	program := filepath.Join(b.TempDir(), "accelgate")
	if err := os.Symlink(self, program); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name          string
		groups, heads int
	}{{"alone", 0, 1}, {"1000-groups", 1000, 1}, {"one-group", 1, 1}, {"one-group-5-values", 1, 5}} {
		b.Run(c.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "cells.jsonl")
			writeLines(b, path, cells, runs, c.groups, c.heads)
			var whole, floor, cpu time.Duration
			var peak int64
			for b.Loop() {
				floor += decodeFloor(b, path, cells)
				start := time.Now()
				child := judgeChild(b, program, path, cells)
				whole += time.Since(start)
				cpu += child.UserTime() + child.SystemTime()
				peak = max(peak, peakMemory(child))
			}
			b.ReportMetric(whole.Seconds()/float64(b.N), "judge-s")
			b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s")
			b.ReportMetric(floor.Seconds()/float64(b.N), "floor-s")
			b.ReportMetric(whole.Seconds()/floor.Seconds(), "ratio")
			b.ReportMetric(float64(peak)/1e6, "peak-MB")
		})
	}
}

func judgeChild(b *testing.B, program, path string, cells int) *os.ProcessState {
	b.Helper()
	cmd := exec.Command(program, "judge", path)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	out, err := cmd.Output()
	if err != nil || strings.Count(string(out), "\n") != cells {
		b.Fatalf("%d bytes of verdicts: %v", len(out), err)
	}
	return cmd.ProcessState
}

// peakMemory is in bytes. Linux counts it in KiB, macOS does not.
func peakMemory(child *os.ProcessState) int64 {
	peak := int64(child.SysUsage().(*syscall.Rusage).Maxrss)
	if runtime.GOOS == "darwin" {
		return peak
	}
	return peak * 1024
}

func decodeFloor(b *testing.B, path string, cells int) time.Duration {
	b.Helper()
	start := time.Now()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	lines, n := bufio.NewScanner(f), 0
	lines.Buffer(nil, 1<<20)
	for ; lines.Scan(); n++ {
		var line struct {
			ID, Group, Better string
			History           [][]float64
			Candidate         []float64
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			b.Fatal(err)
		}
	}
	if n != cells {
		b.Fatalf("%d lines: %v", n, lines.Err())
	}
	return time.Since(start)
}

// writeLines writes cells of all noises, one in 50 of them slower by a tenth.
func writeLines(b *testing.B, path string, cells, runs, groups, heads int) {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	rng, w := rand.New(rand.NewPCG(1, 2)), bufio.NewWriter(f)
	for i := range cells {
		noise, level := 0.001*math.Exp(4*rng.Float64()), math.Exp(10*rng.Float64())
		value := func() string { return fmt.Sprintf("%.6g", level*math.Exp(noise*rng.NormFloat64())) }
		history, head := make([]string, runs), make([]string, heads)
		for j := range history {
			history[j] = "[" + value() + "]"
		}
		if i%50 == 0 {
			level *= 1.1
		}
		for j := range head {
			head[j] = value()
		}
		group := ""
		if groups > 0 {
			group = fmt.Sprintf(`"group": "%d", `, i%groups)
		}
		fmt.Fprintf(w, `{"id": "cell-%d", %s"better": "lower", "history": [%s], "candidate": [%s]}`+"\n", i, group, strings.Join(history, ", "), strings.Join(head, ", "))
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
}
