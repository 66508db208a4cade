package worker_test

import (
	"bufio"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/worker"
)

// BenchmarkIsolated shows what Do costs above starting the same child barely.
// The child is the cheapest there is, so the ratio is the worst there is.
// "paired" takes turns, so that noise on the host hits both alike, and
// reports medians; "ratio" is the number to look at.
func BenchmarkIsolated(b *testing.B) {
	program, err := exec.LookPath("true")
	if err != nil {
		b.Skip(err)
	}
	w := &worker.Isolated{Environ: []string{"HOME=/", "PATH=/usr/bin:/bin", "CUDA_VISIBLE_DEVICES=0"}}
	bare := func(b *testing.B) {
		if err := exec.Command(program).Run(); err != nil {
			b.Fatal(err)
		}
	}
	isolated := func(b *testing.B) {
		req := worker.Request{Args: []string{program}, Env: []string{"KV_CACHE_DTYPE=f16"}, Timeout: time.Minute}
		if got, err := w.Do(b.Context(), req); err != nil || !got.OK() {
			b.Fatal(got.Reason(), err)
		}
	}
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			bare(b)
		}
	})
	b.Run("isolated", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			isolated(b)
		}
	})
	b.Run("paired", func(b *testing.B) {
		var times [2][]time.Duration
		for b.Loop() {
			for i, run := range []func(*testing.B){bare, isolated} {
				start := time.Now()
				run(b)
				times[i] = append(times[i], time.Since(start))
			}
		}
		slices.Sort(times[0])
		slices.Sort(times[1])
		a, c := times[0][len(times[0])/2], times[1][len(times[1])/2]
		b.ReportMetric(float64(a.Microseconds()), "bare-us")
		b.ReportMetric(float64(c.Microseconds()), "isolated-us")
		b.ReportMetric(float64(c)/float64(a), "ratio")
	})
}

// BenchmarkPersistent shows what Do adds to a round trip over the pipes of a
// child that does nothing. Both children are alike and take turns.
func BenchmarkPersistent(b *testing.B) {
	w := persistent(b, &worker.Persistent{})
	req := request(b, "noop", "")
	req.Timeout = time.Minute
	bare := exec.Command(req.Args[0])
	bare.Env = req.Env
	stdin, err := bare.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := bare.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := bare.Start(); err != nil {
		b.Fatal(err)
	}
	in := bufio.NewReader(stdout)
	b.Cleanup(func() {
		stdin.Close()
		_ = bare.Wait()
	})
	b.Run("paired", func(b *testing.B) {
		var times [2][]time.Duration
		for b.Loop() {
			start := time.Now()
			if _, err := stdin.Write([]byte("{\"id\":1,\"method\":\"run\",\"params\":{}}\n")); err != nil {
				b.Fatal(err)
			}
			if _, err := in.ReadSlice('\n'); err != nil {
				b.Fatal(err)
			}
			turn := time.Now()
			if got, err := w.Do(b.Context(), req); err != nil || !got.OK() {
				b.Fatal(got.Reason(), err)
			}
			times[0], times[1] = append(times[0], turn.Sub(start)), append(times[1], time.Since(turn))
		}
		slices.Sort(times[0])
		slices.Sort(times[1])
		a, c := times[0][len(times[0])/2], times[1][len(times[1])/2]
		b.ReportMetric(float64(a.Nanoseconds())/1000, "bare-us")
		b.ReportMetric(float64(c.Nanoseconds())/1000, "persistent-us")
		b.ReportMetric(float64((c-a).Nanoseconds())/1000, "ours-us")
	})
}
