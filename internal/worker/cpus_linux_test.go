package worker

import (
	"fmt"
	"os"
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

// TestMemoryComesFromTheNode: the kernel says so of the child's own memory, and this process keeps its policy.
func TestMemoryComesFromTheNode(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/numa_maps"); err != nil {
		t.Skip("this kernel does not tell the policy of memory")
	}
	policies := func(env ...string) string {
		w := Isolated{}
		resp, err := w.Do(t.Context(), Request{Args: []string{"/bin/sh", "-c", "cut -d' ' -f2 /proc/self/numa_maps | sort -u"}, Env: append(env, "PATH=/usr/bin:/bin")})
		if err != nil || !resp.OK() {
			t.Fatalf("%v, %v, %s", resp.End, err, resp.Log)
		}
		return strings.Join(strings.Fields(string(resp.Stdout)), " ")
	}
	before := policies()
	if got := policies(Nodes + "=0"); !strings.Contains(got, "bind:0") {
		t.Errorf("policies of a child are %q, want bind:0", got)
	}
	if after := policies(); after != before {
		t.Errorf("children without a node have %q after one with a node, and had %q", after, before)
	}
	for node, want := range map[string]string{"1023": "has no NUMA node 1023", "x": "not a list of NUMA nodes"} {
		w := Isolated{}
		resp, err := w.Do(t.Context(), Request{Args: []string{"/bin/true"}, Env: []string{Nodes + "=" + node}})
		if err != nil || resp.End != NotStarted || !strings.Contains(resp.StartErr.Error(), want) {
			t.Errorf("%s: %v, %v, %v, want %q", node, resp.End, resp.StartErr, err, want)
		}
	}
	if _, err := takeFrom([]int{maxCPU}); err == nil || !strings.Contains(err.Error(), "may use no memory of the NUMA nodes") {
		t.Errorf("memory of a node that is not there: %v", err)
	}
}
