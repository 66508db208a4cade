//go:build linux

package worker_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accelgate/accelgate/internal/testing/testtier"
	"github.com/accelgate/accelgate/internal/worker"
)

// subject is a worker whose children must leave nothing behind.
type subject struct {
	name   string
	serves bool // the child uses the protocol of persistent workers
	new    func() worker.Worker
}

var subjects = []subject{
	{"isolated", false, func() worker.Worker { return &worker.Isolated{Grace: soon} }},
	{"persistent", true, func() worker.Worker { return &worker.Persistent{Grace: soon} }},
}

// leftovers are the traits of the processes that the child leaves behind: "pipe" holds the
// standard output, "session" leaves process group and session, "fork" has a
// parent of its own that exits at once, "deaf" ignores SIGTERM, "brood" has a
// child in a further session. Beside them "bare" has no environment, and the parent of
// "heavy" takes a while to exit.
var leftovers = []string{
	"plain", "pipe", "deaf pipe", "session", "session pipe", "session fork", "session fork deaf pipe", "fork fork", "session brood pipe",
}

// hardest are those of leftovers that need the most to be found.
var hardest = []string{"plain", "deaf pipe", "session fork deaf pipe", "session brood pipe"}

func TestNothingSurvives(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) { testNothingSurvives(t, s, hardest, "timeout", "crash", "success") })
	}
}

func TestNothingSurvivesThorough(t *testing.T) {
	testtier.Thorough(t)
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) { testNothingSurvives(t, s, leftovers, "timeout", "crash", "success") })
	}
}

// testNothingSurvives looks in /proc for processes with a mark in their
// arguments, after a child came to each of the ends.
func testNothingSurvives(t *testing.T, s subject, leftovers []string, ends ...string) {
	for _, end := range ends {
		for _, left := range leftovers {
			t.Run(end+"/"+left, func(t *testing.T) {
				t.Parallel()
				mark := rand.Text()
				w := s.new()
				defer w.Close()
				resp := leave(t, w, s.request(t, mark, left, end), end == "timeout")
				if resp.OK() != (end == "success") || (resp.End == worker.TimedOut) != (end == "timeout") {
					t.Errorf("reason %q, want a %s", resp.Reason(), end)
				}
				if s.serves && end == "success" { // what descends from a process that serves on may live
					if err := w.Close(); err != nil {
						t.Error(err)
					}
				}
				if left := withMark(mark); len(left) > 0 {
					t.Errorf("processes %v live on", left)
				}
			})
		}
	}
}

// request makes a child that leaves something behind before it ends.
func (s subject) request(t testing.TB, mark, left, end string) worker.Request {
	req := request(t, "leaver", left, childEnd+"="+end)
	if s.serves {
		req.Env = append(req.Env, childServes+"=1")
	}
	req.Args = append(req.Args, mark)
	return req
}

// leave runs a request until its child has left something behind, with ever
// longer time limits if it is to be stopped.
func leave(t testing.TB, w worker.Worker, req worker.Request, times bool) worker.Response {
	t.Helper()
	for limit := time.Second / 4; limit < time.Minute; limit *= 2 {
		if times {
			req.Timeout = limit
		}
		resp, err := w.Do(within(t), req)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(resp.Log, "it is up\n") {
			return resp
		}
		if !times {
			t.Fatalf("reason %q, nothing came up\n%s", resp.Reason(), resp.Log)
		}
	}
	t.Fatal("nothing comes up in a minute")
	return worker.Response{}
}

// withMark returns the processes with mark in their arguments.
func withMark(mark string) (pids []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range files {
		if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte(mark)) {
			pids = append(pids, filepath.Base(filepath.Dir(name)))
		}
	}
	return pids
}

const (
	childEnd    = "WORKER_TEST_END"
	childServes = "WORKER_TEST_SERVES"
)

// leaver starts a leftover and ends as its arguments say.
func leaver(left string) {
	work := func() {
		upRead, upWrite, err := os.Pipe()
		if err != nil {
			panic(err)
		}
		startLeftover(strings.Fields(left), upWrite)
		upWrite.Close()
		_, _ = upRead.Read(make([]byte, 1))
		fmt.Println("it is up")
		switch os.Getenv(childEnd) {
		case "timeout":
			signal.Ignore(syscall.SIGTERM)
			time.Sleep(time.Hour)
		case "crash":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Hour)
		}
	}
	if os.Getenv(childServes) == "" {
		work()
		return
	}
	serve(func(map[string]any) any {
		work()
		return "done"
	})
}

func startLeftover(traits []string, up *os.File) {
	cmd := exec.Command(os.Args[0], os.Args[1])
	cmd.Env = append(os.Environ(), childMode+"=leftover", childArg+"="+strings.Join(traits, " "))
	cmd.ExtraFiles = []*os.File{up}
	if slices.Contains(traits, "bare") {
		cmd = exec.Command("/bin/sh", "-c", "echo up >&3; exec 3>&-; while :; do /bin/sleep 1; done", os.Args[1])
		cmd.Env = []string{}
		cmd.ExtraFiles = []*os.File{up}
	}
	if slices.Contains(traits, "pipe") {
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	}
	if slices.Contains(traits, "session") {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

func leftover(arg string) {
	up := os.NewFile(3, "up")
	traits := strings.Fields(arg)
	if i := slices.Index(traits, "heavy"); i >= 0 {
		traits = slices.Delete(traits, i, i+1)
		takeMemory()
	}
	if i := slices.Index(traits, "fork"); i >= 0 {
		startLeftover(slices.Delete(traits, i, i+1), up)
		return
	}
	if slices.Contains(traits, "deaf") {
		signal.Ignore(syscall.SIGTERM)
	}
	if i := slices.Index(traits, "brood"); i >= 0 {
		startLeftover(slices.Delete(traits, i, i+1), up) // which tells that all are up
	} else {
		fmt.Fprintln(up, "up")
	}
	up.Close()
	time.Sleep(time.Hour)
}

// takeMemory has so many pages that it takes the kernel a while to free them.
func takeMemory() {
	pages, err := unix.Mmap(-1, 0, 512<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err == nil {
		err = unix.Madvise(pages, unix.MADV_NOHUGEPAGE)
	}
	if err != nil {
		panic(err)
	}
	for i := 0; i < len(pages); i += 4096 {
		pages[i] = 1
	}
}

// Two requests run at once, and what one leaves behind is ended without
// touching the other's: at once if it can be distinguished, else with the other.
func TestOrphansAreToldApart(t *testing.T) {
	for _, test := range []struct {
		left         string
		wantOutlived bool
	}{{"session fork", false}, {"session fork heavy", false}, {"session bare", true}} {
		t.Run(test.left, func(t *testing.T) {
			w := &worker.Isolated{Grace: soon}
			ctx, cancel := context.WithCancel(within(t))
			defer cancel()
			other := rand.Text()
			wait := do(ctx, w, subjects[0].request(t, other, "session fork", "timeout"))
			for end := deadline(t); len(orphans(other)) == 0; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("no orphan comes up")
				}
			}
			before := orphans(other)
			mark := rand.Text()
			if resp := leave(t, w, subjects[0].request(t, mark, test.left, "success"), false); !resp.OK() {
				t.Errorf("reason %q, want success", resp.Reason())
			}
			if left := withMark(mark); (len(left) > 0) != test.wantOutlived {
				t.Errorf("processes %v live on beside another request, want some: %v", left, test.wantOutlived)
			}
			if after := orphans(other); !slices.Equal(before, after) {
				t.Errorf("of another request %v live, before %v", after, before)
			}
			cancel()
			_, _ = wait()
			if left := append(withMark(mark), withMark(other)...); len(left) > 0 {
				t.Errorf("processes %v live on", left)
			}
		})
	}
}

// orphans returns the marked processes that left their parents' session.
func orphans(mark string) []string {
	return slices.DeleteFunc(withMark(mark), func(pid string) bool {
		stat, _ := os.ReadFile("/proc/" + pid + "/stat")
		_, fields, _ := strings.Cut(string(stat), ") ")
		f := strings.Fields(fields) // state, parent, group, session
		return len(f) < 4 || f[1] != fmt.Sprint(os.Getpid()) || f[3] == fmt.Sprint(session())
	})
}

func session() int {
	id, _, _ := syscall.RawSyscall(syscall.SYS_GETSID, 0, 0, 0)
	return int(id)
}

// A process that hides its environment falls to the only request there is.
func TestNothingBareSurvives(t *testing.T) {
	for _, s := range subjects {
		mark := rand.Text()
		w := s.new()
		leave(t, w, s.request(t, mark, "session bare pipe", "crash"), false)
		if left := withMark(mark); len(left) > 0 {
			t.Errorf("%s: processes %v live on", s.name, left)
		}
		w.Close()
	}
}

// nest is accelgate as a child of accelgate.
func nest(left string) {
	w := &worker.Isolated{Environ: os.Environ()}
	_, _ = w.Do(context.Background(), worker.Request{
		Args: os.Args, Env: []string{childMode + "=leaver", childArg + "=" + left, childEnd + "=timeout"},
	})
}

// What a worker inside a child leaves behind when it is killed itself is still
// told apart by the outer one.
func TestNothingNestedSurvives(t *testing.T) {
	t.Parallel()
	mark := rand.Text()
	req := request(t, "nest", "session fork deaf")
	req.Args = append(req.Args, mark)
	w := &worker.Isolated{Grace: soon}
	for limit := time.Second / 4; limit < time.Minute; limit *= 2 {
		ctx, cancel := context.WithCancel(within(t))
		wait := do(ctx, w, req)
		for end := time.Now().Add(limit); len(withMark(mark)) < 3 && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
		came := len(withMark(mark))
		cancel()
		_, _ = wait()
		if left := withMark(mark); len(left) > 0 {
			t.Fatalf("processes %v live on", left)
		}
		if came >= 3 { // the nest, its child and what that leaves
			return
		}
	}
	t.Error("nothing came up in a minute")
}
