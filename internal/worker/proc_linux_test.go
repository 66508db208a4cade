package worker

import (
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestStartOfThisProcess(t *testing.T) {
	if own, first := startOf(os.Getpid()), startOf(1); own == math.MaxUint64 || first > own {
		t.Errorf("this process started at %d and the first one at %d", own, first)
	}
	if got := startOf(math.MaxInt32); got != math.MaxUint64 {
		t.Errorf("a process that does not exist started at %d", got)
	}
}

// Whatever name a process gives itself, the field is found.
func FuzzStartIn(f *testing.F) {
	f.Add("worker", uint64(7))
	f.Add(") R 1 (", uint64(math.MaxUint64))
	f.Add("a) S 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n", uint64(0))
	f.Fuzz(func(t *testing.T, name string, start uint64) {
		stat := "1 (" + name + ") S " + strings.Repeat("0 ", 18) + strconv.FormatUint(start, 10) + " 0 0\n"
		if got := startIn(stat); got != start {
			t.Errorf("%q: started at %d, want %d", stat, got, start)
		}
		_ = startIn(name) // must not panic
	})
}

func TestCarries(t *testing.T) {
	x := &tree{cookie: "OWN"}
	for environ, want := range map[string]bool{
		"A=1\x00ACCELGATE_CELL=OWN\x00":        true,
		"ACCELGATE_CELL=OUTER.OWN.INNER\x00":   true,
		"ACCELGATE_CELL=OWN":                   true,
		"ACCELGATE_CELL=OWNER\x00":             false,
		"XACCELGATE_CELL=OWN\x00":              false,
		"A=ACCELGATE_CELL=OWN\x00OWN\x00\x00=": false,
		"":                                     false,
	} {
		if got := x.carries(environ); got != want {
			t.Errorf("%q: %v, want %v", environ, got, want)
		}
	}
}

func TestMarkKeepsTheOuterValue(t *testing.T) {
	var outer, inner tree
	cmd := &exec.Cmd{Env: []string{}}
	outer.mark(cmd)
	inner.mark(cmd)
	environ := strings.Join(cmd.Environ(), "\x00")
	if !outer.carries(environ) || !inner.carries(environ) || outer.cookie == inner.cookie {
		t.Errorf("%q does not tell %q and %q", environ, outer.cookie, inner.cookie)
	}
}

func TestChildrenAreOurs(t *testing.T) {
	cmd := exec.Command("/bin/cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	find := func() (found process, ok bool) {
		all := children()
		i := slices.IndexFunc(all, func(p process) bool { return p.pid == cmd.Process.Pid })
		if i < 0 {
			return process{}, false
		}
		return all[i], true
	}
	if got, ok := find(); !ok || got.dead || !got.ours() {
		t.Errorf("a living child is %+v, %v", got, ok)
	}
	in.Close()
	awaitExit(cmd.Process)
	if got, ok := find(); !ok || !got.dead {
		t.Errorf("a dead child is %+v, %v", got, ok)
	}
	_ = cmd.Wait()
	if got, ok := find(); ok {
		t.Errorf("a child that was waited for is %+v", got)
	}
}

func TestCounter(t *testing.T) {
	const events = "low 0\nhigh 1\nmax 7\noom 3\noom_kill 2\noom_group_kill 9\n"
	for name, want := range map[string]int64{"oom_kill": 2, "oom": 3, "low": 0} {
		if got, ok := counter(events, name); got != want || !ok {
			t.Errorf("%s is %d, %v, want %d", name, got, ok, want)
		}
	}
	for _, lines := range []string{"", "oom_kill", "oom_kill x\n", "oom_kill 99999999999999999999\n", "oom_killer 1\n"} {
		if got, ok := counter(lines, "oom_kill"); ok {
			t.Errorf("%q counts %d", lines, got)
		}
	}
	if _, ok := oomKills(); !ok {
		t.Skip("this kernel counts no out-of-memory kills: the counter was NOT read")
	}
}
