package health

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device/watch"
	"github.com/accelgate/accelgate/internal/testing/testtier"
	"github.com/accelgate/accelgate/internal/worker"
)

// vendorTools is a worker whose programs print what a test says.
type vendorTools struct {
	mu    sync.Mutex
	asked []string
	// print returns what a program prints; nil says that it is not installed.
	print func(args string) []byte
}

func (v *vendorTools) Close() error { return nil }

func (v *vendorTools) Do(ctx context.Context, req worker.Request) (worker.Response, error) {
	args := strings.Join(req.Args, " ")
	v.mu.Lock()
	v.asked = append(v.asked, args)
	out := v.print(args)
	v.mu.Unlock()
	switch {
	case out == nil:
		return worker.Response{End: worker.NotStarted, ExitCode: -1, StartErr: fmt.Errorf("%q: %w", req.Args[0], worker.ErrNotFound)}, nil
	case ctx.Err() != nil:
		return worker.Response{End: worker.Cancelled}, ctx.Err()
	}
	return worker.Response{End: worker.Exited, Stdout: out}, nil
}

func (v *vendorTools) times(part string) (n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, args := range v.asked {
		if strings.Contains(args, part) {
			n++
		}
	}
	return n
}

var gpu0 = bench.Device{Vendor: "nvidia", ID: "0"}

// spanOf watches devices for 12 s, in which tools that are polled are asked once.
func spanOf(t *testing.T, v *vendorTools, d bench.Device, all ...bench.Device) *bench.Health {
	t.Helper()
	r := newRoot(t)
	w := New(Options{Devices: all, Worker: v, Root: r.dir, PID: self, GOOS: "linux", Now: time.Now})
	s := w.Begin(t.Context(), d, false)
	time.Sleep(12 * time.Second)
	r.stat(0, 2000, 0)
	time.Sleep(pause) // no look of the patrol stands for the last one
	return s.End(t.Context())
}

// TestNVIDIASpan looks before and after.
func TestNVIDIASpan(t *testing.T) {
	log := string(recorded(t, "nvidia-560.xml"))
	synctest.Test(t, func(t *testing.T) {
		v := &vendorTools{}
		v.print = func(args string) []byte {
			if len(v.asked) > 1 { // the last look
				return []byte(strings.Replace(log, "<dram_uncorrectable>2<", "<dram_uncorrectable>4<", 1))
			}
			return []byte(log)
		}
		h := spanOf(t, v, bench.Device{Vendor: "nvidia", ID: "GPU-8932"})
		reasons := strings.Join(h.Reasons, "\n")
		if h.Status != bench.Unhealthy || !strings.Contains(reasons, "counted 2 uncorrected") || v.times("-q -x") != 2 {
			t.Errorf("%s %q, asked %q", h.Status, h.Reasons, v.asked)
		}
	})
}

// TestSamplesOfASpan: between the looks the host's watch reads the device, a second apart at least, whoever else asks it.
func TestSamplesOfASpan(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: the program is a script that needs GNU date")
	}
	bash, err := exec.LookPath("bash")
	folder, abs := filepath.Abs("../testdata/h100")
	if err != nil || abs != nil {
		testtier.Missing(t, "the recorded nvidia-smi was NOT run: install bash")
	}
	environ := []string{"PATH=" + folder + ":" + filepath.Dir(bash) + ":/usr/bin:/bin"}
	gpus := watch.New(environ, time.Now)
	w := New(Options{Worker: &worker.Isolated{Environ: environ}, Watch: gpus, Root: newRoot(t).dir, PID: self, GOOS: "linux", Now: time.Now})
	other := gpus.Join(10 * time.Millisecond)
	defer other.Leave()
	s := w.Begin(t.Context(), gpu0, false)
	begun := len(other.Rows())
	other.Await(t.Context(), time.Minute, func(rows []watch.Row) bool { return len(rows) > begun+5 })
	h := s.End(t.Context())
	rows := other.Rows()
	limit := 2 + int(rows[len(rows)-1].At.Sub(rows[0].At)/(period*9/10)) // the last look, and one row of those in a second
	for _, r := range h.Readings {
		if r.Name == "nvidia:0 sm clock" && r.N >= 2 && r.N <= limit && r.Min == 345 {
			return
		}
	}
	t.Errorf("%d rows: %s %q, readings %+v", len(other.Rows()), h.Status, h.Reasons, h.Readings)
}

func TestNVIDIASpanOfAnOlderDriver(t *testing.T) {
	log := recorded(t, "nvidia-515.xml")
	synctest.Test(t, func(t *testing.T) {
		v := &vendorTools{print: func(string) []byte { return log }}
		h := spanOf(t, v, gpu0)
		reasons := strings.Join(h.Reasons, "\n")
		if h.Status != bench.Unhealthy || !strings.Contains(reasons, softwareHeat) || !strings.Contains(reasons, "retired") || !strings.Contains(reasons, "no tool lists") {
			t.Errorf("%s %q", h.Status, h.Reasons)
		}
		if v.times("-q -x -i 0") != 2 {
			t.Errorf("asked %q", v.asked)
		}
	})
}

// TestUnknownDevices are never well.
func TestUnknownDevices(t *testing.T) {
	log := recorded(t, "nvidia-560.xml")
	for name, test := range map[string]struct {
		device bench.Device
		print  func(string) []byte
		says   string
	}{
		"no tool":         {gpu0, func(string) []byte { return nil }, "nvidia-smi is not installed"},
		"nonsense":        {gpu0, func(string) []byte { return []byte("No devices were found\n") }, "is not understood"},
		"nothing":         {gpu0, func(string) []byte { return []byte{} }, "printed nothing"},
		"another GPU":     {bench.Device{Vendor: "nvidia", ID: "GPU-77"}, func(string) []byte { return log }, "lists no such GPU"},
		"MIG":             {bench.Device{Vendor: "nvidia", ID: "MIG-77"}, func(string) []byte { return log }, "without MIG"},
		"another vendor":  {bench.Device{Vendor: "intel", ID: "0"}, nil, "this build cannot look at devices of intel"},
		"lost in between": {gpu0, lost(log), "is not understood"},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := spanOf(t, &vendorTools{print: test.print}, test.device)
			if h.Status != bench.HealthUnknown || !strings.Contains(strings.Join(h.Reasons, "\n"), test.says) {
				t.Errorf("%s: %s %q", name, h.Status, h.Reasons)
			}
		})
	}
}

// lost answers the first time only.
func lost(log []byte) func(string) []byte {
	n := 0
	return func(args string) []byte {
		if strings.Contains(args, "-q -x") {
			n++
		}
		if n > 1 {
			return []byte("GPU is lost.\n")
		}
		return log
	}
}

// TestAllDevices are looked at in a span that names none, and what was just seen
// stands for the look before the next span.
func TestAllDevices(t *testing.T) {
	log := recorded(t, "nvidia-560.xml")
	synctest.Test(t, func(t *testing.T) {
		v := &vendorTools{print: func(string) []byte { return log }}
		r := newRoot(t)
		w := New(Options{Devices: []bench.Device{gpu0, {Vendor: "nvidia", ID: "1"}}, Worker: v, Root: r.dir, PID: self, GOOS: "linux", Now: time.Now})
		for range 3 {
			s := w.Begin(t.Context(), bench.Device{}, false)
			time.Sleep(time.Second)
			h := s.End(t.Context())
			if reasons := strings.Join(h.Reasons, "\n"); h.Status != bench.Unhealthy || !strings.Contains(reasons, "nvidia:1 reports that rows of its memory wait") {
				t.Errorf("%s %q", h.Status, h.Reasons)
			}
		}
		if n := v.times("-q -x"); n != 4 {
			t.Errorf("asked %d times for three spans in a row, not 4", n)
		}
	})
}

// TestLostDevice: the kernel's log tells why a device cannot be looked at.
func TestLostDevice(t *testing.T) {
	log := recorded(t, "nvidia-560.xml")
	if runtime.GOOS != "linux" {
		t.Skip("the log is Linux's")
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRoot(t)
		r.write("dev/kmsg", "4,1,1,-;NVRM: Xid (PCI:0000:18:00): 48, long ago\n")
		w := New(Options{Worker: &vendorTools{print: lost(log)}, Root: r.dir, PID: self, GOOS: "linux", Now: time.Now})
		s := w.Begin(t.Context(), gpu0, false)
		f, err := os.OpenFile(filepath.Join(r.dir, "dev/kmsg"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(f, "4,2,2,-;NVRM: Xid (PCI:0000:18:00): 79, pid=4242, name=python3, GPU has fallen off the bus.")
		f.Close()
		h := s.End(t.Context())
		reasons := strings.Join(h.Reasons, "\n")
		if h.Status != bench.Unhealthy || !strings.Contains(reasons, "nvidia:0 is lost (the kernel's log reports its XID 79)") || strings.Contains(reasons, "XID 48") {
			t.Errorf("%s %q", h.Status, h.Reasons)
		}
	})
}

// TestOthersOutsideOfTheContainer are not seen, so their absence is not reported.
func TestOthersOutsideOfTheContainer(t *testing.T) {
	none := recorded(t, "nvidia-440.xml") // without processes
	ours := []byte(strings.ReplaceAll(string(recorded(t, "nvidia-560.xml")), "<pid>4242<", fmt.Sprintf("<pid>%d<", self)))
	for namespace, want := range map[string]bool{"pid:[4026531836]": false, "pid:[4026532197]": true} {
		for name, log := range map[string][]byte{"none": none, "ours": ours} {
			h := spanIn(t, namespace, log)
			if got := strings.Contains(strings.Join(h.Reasons, "\n"), "no tool lists the processes that use nvidia:0"); got != want {
				t.Errorf("%s in %s: %q", name, namespace, h.Reasons)
			}
		}
	}
}

// spanIn watches a device from inside of a namespace of process numbers.
func spanIn(t *testing.T, namespace string, log []byte) (h *bench.Health) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoot(t)
		link := filepath.Join(r.dir, "proc/self/ns/pid")
		if err := errors.Join(os.Remove(link), os.Symlink(namespace, link)); err != nil {
			t.Fatal(err)
		}
		w := New(Options{Worker: &vendorTools{print: func(string) []byte { return log }}, Root: r.dir, PID: self, GOOS: "linux", Now: time.Now})
		h = w.Begin(t.Context(), gpu0, false).End(t.Context())
	})
	return h
}

// TestManySpansAtOnce is for the race detector.
func TestManySpansAtOnce(t *testing.T) {
	log := recorded(t, "nvidia-560.xml")
	synctest.Test(t, func(t *testing.T) {
		r := newRoot(t)
		w := New(Options{Worker: &vendorTools{print: func(string) []byte { return log }}, Root: r.dir, PID: self, GOOS: "linux", Now: time.Now})
		var group sync.WaitGroup
		for i := range 4 {
			group.Go(func() {
				for range 5 {
					s := w.Begin(t.Context(), bench.Device{Vendor: "nvidia", ID: fmt.Sprint(i % 2)}, false)
					time.Sleep(1500 * time.Millisecond)
					if h := s.End(t.Context()); h.Status == "" || h.Status == bench.Healthy {
						t.Errorf("%+v", h)
					}
				}
			})
		}
		group.Wait()
	})
}

// TestToolThatHangs costs one span its time, and not each of them.
func TestToolThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &vendorTools{print: func(string) []byte { time.Sleep(toolTimeout); return []byte{} }}
		r := newRoot(t)
		w := New(Options{Worker: v, Root: r.dir, PID: self, GOOS: "linux", Now: time.Now})
		for n := range 3 {
			h := w.Begin(t.Context(), gpu0, false).End(t.Context())
			reasons := strings.Join(h.Reasons, "\n")
			if h.Status != bench.HealthUnknown || !strings.Contains(reasons, "nvidia-smi printed nothing") || strings.Contains(reasons, "not asked again") != (n > 0) {
				t.Errorf("%s %q", h.Status, h.Reasons)
			}
		}
		if n := v.times("-q -x"); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// TestNoTimeLeft ends at once when the run is cancelled.
func TestNoTimeLeft(t *testing.T) {
	log := recorded(t, "nvidia-560.xml")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := newRoot(t)
		w := New(Options{Worker: &vendorTools{print: func(string) []byte { return log }}, Root: r.dir, PID: self, GOOS: "linux", Now: time.Now})
		s := w.Begin(ctx, gpu0, false)
		cancel()
		if h := s.End(ctx); h.Status != bench.HealthUnknown {
			t.Errorf("%+v", h)
		}
	})
}
