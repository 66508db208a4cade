package worker

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// TestChildrenRunOnTheirProcessors: each child has its own, whatever others get at the same time.
func TestChildrenRunOnTheirProcessors(t *testing.T) {
	t.Parallel()
	var own unix.CPUSet
	if err := unix.SchedGetaffinity(0, &own); err != nil {
		t.Fatal(err)
	}
	last := 0
	for cpu := range maxCPU + 1 {
		if own.IsSet(cpu) {
			last = cpu
		}
	}
	all := strings.TrimSpace(allowed(t, nil))
	var wait sync.WaitGroup
	for i := range 24 {
		wait.Go(func() {
			env, want := []string(nil), all
			if i%2 == 0 {
				env, want = []string{fmt.Sprintf("%s=%d", CPUs, last)}, fmt.Sprint(last)
			}
			if got := strings.TrimSpace(allowed(t, env)); got != want {
				t.Errorf("with %q a child runs on %q, want %q", env, got, want)
			}
		})
	}
	wait.Wait()
	w := Isolated{}
	for list, want := range map[string]string{"1023": "not one that accelgate may use", "x": "is not a list of processors"} {
		resp, err := w.Do(t.Context(), Request{Args: []string{"/bin/true"}, Env: []string{CPUs + "=" + list}})
		if err != nil || resp.End != NotStarted || !strings.Contains(resp.StartErr.Error(), want) {
			t.Errorf("%s: %v, %v, %v, want %q", list, resp.End, resp.StartErr, err, want)
		}
	}
}

// allowed is the list of processors of a child with this environment.
func allowed(t *testing.T, env []string) string {
	w := Isolated{}
	resp, err := w.Do(t.Context(), Request{Args: []string{"/bin/sh", "-c", "sed -n 's/^Cpus_allowed_list://p' /proc/self/status"}, Env: append(env, "PATH=/usr/bin:/bin")})
	if err != nil || !resp.OK() {
		t.Errorf("%v, %v, %s", resp.End, err, resp.Log)
	}
	return string(resp.Stdout)
}
