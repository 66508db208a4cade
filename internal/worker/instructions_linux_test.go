package worker

import (
	"fmt"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestCounterOfProcessTree counts processor time, which each kernel can, where the instructions
// need a processor that shows its counters.
func TestCounterOfProcessTree(t *testing.T) {
	clock := perfEvent{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK}
	if fd, err := clock.open(); err != nil {
		t.Skipf("perf_event_open is not there: %v", err)
	} else {
		unix.Close(fd)
	}
	const loop = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
	burn := func() (counted, used time.Duration) {
		cmd := exec.Command("sh", "-c", fmt.Sprintf("(%s) & (%s); wait", loop, loop))
		cmd.SysProcAttr = &unix.SysProcAttr{}
		dieWithParent(cmd.SysProcAttr) // as children of cells: the thread must outlive them
		count, err := clock.count(cmd.Start)
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		return time.Duration(count()), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	for range 2 { // the second on a thread that has counted
		if counted, used := burn(); counted < used/2 || counted > used*2 || used == 0 {
			t.Errorf("counted %v, and wait4 %v", counted, used)
		}
	}
	count, err := clock.count(exec.Command("/does/not/exist").Start)
	if err == nil || count() != 0 {
		t.Errorf("a program that is not there: %v", err)
	}
}

// TestNoInstructions holds that what is not counted has a reason, and what is counted none.
func TestNoInstructions(t *testing.T) {
	path, err := exec.LookPath("true")
	if err != nil {
		t.Skip("no program true")
	}
	out, err := new(Isolated).Do(t.Context(), Request{Args: []string{path}})
	if err != nil || !out.OK() {
		t.Fatal(err, out.Log)
	}
	if why := NoInstructions(); (out.Usage.Instructions > 0) == (why != "") {
		t.Errorf("counted %d instructions, and the reason why not is %q", out.Usage.Instructions, why)
	}
}
