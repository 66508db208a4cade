package health

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
)

// rootOf is a machine with two cores of which a test writes the files.
type rootOf struct {
	*testing.T
	dir string
	now time.Time
}

const self = 4000 // accelgate's process there

func newRoot(t *testing.T) *rootOf {
	if runtime.GOOS == "windows" {
		t.Skip("a folder that looks like Linux takes links")
	}
	r := &rootOf{t, t.TempDir(), moment}
	r.stat(0, 0, 0)
	r.process(self, 1, 100)
	r.write("proc/loadavg", "0.18 0.64 1.55 3/104 9702\n")
	r.write("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
	r.write("proc/1/stat", "1 (init) S 0 1 1 0 -1 4194560 1 1 1 1 1 1 1 1 20 0 1 0 1 1 1\n")
	if err := os.MkdirAll(filepath.Join(r.dir, "proc/self/ns"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("pid:[4026531836]", filepath.Join(r.dir, "proc/self/ns/pid")); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rootOf) write(name, text string) {
	r.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.Fatal(err)
	}
}

// stat writes /proc/stat in the shape of Linux 6: ticks of work, of idling and of
// steal, of both cores alike, since a boot long ago.
func (r *rootOf) stat(work, idle, steal int) {
	core := fmt.Sprintf("%d 10 0 %d 50 0 7 %d 0 0", 1000+work/2, 90000+idle/2, steal/2)
	r.write("proc/stat", fmt.Sprintf("cpu  %d 20 0 %d 100 0 14 %d 0 0\ncpu0 %s\ncpu1 %s\nintr 156003272 0 0\nctxt 344532243\nbtime 1\n",
		2000+work, 180000+idle, steal, core, core))
}

// process writes a process that has used so many ticks, half of them by children
// that are gone; children are those that it has.
func (r *rootOf) process(pid, parent, used int, children ...int) {
	r.write(fmt.Sprintf("proc/%d/stat", pid), fmt.Sprintf("%d (a) b) (c) S %d %d %d 0 -1 4194560 1 1 1 1 %d 0 %d 0 20 0 1 0 100 1 1\n", pid, parent, pid, pid, used-used/2, used/2))
	list := strings.Trim(fmt.Sprint(children), "[]")
	r.write(fmt.Sprintf("proc/%d/task/%d/children", pid, pid), list+" ")
}

func (r *rootOf) watcher() *Watcher {
	return New(Options{Root: r.dir, PID: self, GOOS: "linux", Now: func() time.Time { return r.now }})
}

// span watches while the host changes and 10 s pass.
func (r *rootOf) span(outside bool, change func()) *bench.Health {
	s := r.watcher().Begin(r.Context(), bench.Device{}, outside)
	r.now = r.now.Add(10 * time.Second)
	change()
	return s.End(r.Context())
}

func TestProcessorRules(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(*rootOf)
		outside bool
		status  bench.HealthStatus
		says    string
	}{
		"idle":             {func(r *rootOf) { r.stat(0, 2000, 0) }, false, bench.Healthy, ""},
		"busy alone":       {func(r *rootOf) { r.stat(2000, 0, 0); r.process(self, 1, 2090) }, false, bench.Healthy, ""},
		"a little company": {func(r *rootOf) { r.stat(1490, 510, 0); r.process(self, 1, 1100) }, false, bench.Healthy, ""},
		"company":          {func(r *rootOf) { r.stat(1510, 490, 0); r.process(self, 1, 1100) }, false, bench.Unhealthy, "other programs used 26 %"},
		"children that run": {func(r *rootOf) {
			r.stat(2000, 0, 0)
			r.process(self, 1, 200, 4001, 4002)
			r.process(4001, self, 600)
			r.process(4002, self, 100, 4003)
			r.process(4003, 4002, 1100)
		}, false, bench.Healthy, ""},
		"a child that tells nothing": {func(r *rootOf) {
			r.stat(2000, 0, 0)
			r.process(self, 1, 200, 4001)
			r.write("proc/4001/task/4001/children", "")
		}, false, bench.HealthUnknown, "cannot be seen"},
		"one of ours hidden": {func(r *rootOf) { r.stat(2000, 0, 0); r.process(self, 1, 0) }, false, bench.HealthUnknown, "could not be seen"},
		"outside":            {func(r *rootOf) { r.stat(2000, 0, 0) }, true, bench.HealthUnknown, "does not run below accelgate"},
		"a little steal":     {func(r *rootOf) { r.stat(0, 1910, 90) }, false, bench.Healthy, ""},
		"steal":              {func(r *rootOf) { r.stat(0, 1880, 120) }, false, bench.Unhealthy, "6 % of the processors' time"},
		"steal, outside":     {func(r *rootOf) { r.stat(0, 1880, 120) }, true, bench.Unhealthy, "6 % of the processors' time"},
		"short":              {func(r *rootOf) { r.stat(20, 20, 0) }, false, bench.HealthUnknown, "too short"},
		"no /proc":           {func(r *rootOf) { r.write("proc/stat", "") }, false, bench.HealthUnknown, "mount /proc"},
		"time went back":     {func(r *rootOf) { r.stat(-1000, -1000, 0) }, false, bench.HealthUnknown, "too short"},
		"no such process":    {func(r *rootOf) { r.stat(0, 2000, 0); r.write("proc/4000/stat", "") }, false, bench.HealthUnknown, "cannot be read"},
		"no children": {func(r *rootOf) {
			r.stat(0, 2000, 0)
			_ = os.Remove(filepath.Join(r.dir, "proc/4000/task/4000/children"))
		}, false, bench.HealthUnknown, "does not list the children"},
	} {
		r := newRoot(t)
		h := r.span(test.outside, func() { test.change(r) })
		if h.Status != test.status || !strings.Contains(strings.Join(h.Reasons, "\n"), test.says) || (len(h.Reasons) > 0) != (test.says != "") {
			t.Errorf("%s: %s %q", name, h.Status, h.Reasons)
		}
	}
}

func TestThrottledProcessors(t *testing.T) {
	r := newRoot(t)
	for n := range 2 {
		r.write(fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/physical_package_id", n), "0\n")
		r.write(fmt.Sprintf("sys/devices/system/cpu/cpu%d/thermal_throttle/package_throttle_count", n), "12\n")
	}
	h := r.span(false, func() { r.stat(0, 2000, 0) })
	if h.Status != bench.Healthy {
		t.Errorf("throttled long ago: %s %q", h.Status, h.Reasons)
	}
	h = r.span(false, func() {
		r.stat(0, 4000, 0)
		r.write("sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "13\n")
	})
	if h.Status != bench.Unhealthy || !strings.Contains(h.Reasons[0], "too hot") {
		t.Errorf("throttled: %s %q", h.Status, h.Reasons)
	}
}

// TestShortSpans are described by the last second, which other spans saw.
func TestShortSpans(t *testing.T) {
	r := newRoot(t)
	w := r.watcher()
	work, own := 0, 100
	cell := func(foreign int) *bench.Health {
		s := w.Begin(t.Context(), bench.Device{}, false)
		r.now = r.now.Add(100 * time.Millisecond) // 20 ticks of two cores
		work, own = work+10+foreign, own+10
		r.stat(work, 20*int(r.now.Sub(moment)/(100*time.Millisecond))-work, 0)
		r.process(self, 1, own)
		return s.End(t.Context())
	}
	if h := cell(0); h.Status != bench.HealthUnknown {
		t.Errorf("the first: %s %q", h.Status, h.Reasons)
	}
	for range 15 {
		cell(0)
	}
	if h := cell(0); h.Status != bench.Healthy {
		t.Errorf("quiet: %s %q", h.Status, h.Reasons)
	}
	for range 9 {
		cell(8)
	}
	if h := cell(8); h.Status != bench.Unhealthy {
		t.Errorf("in company: %s %q", h.Status, h.Reasons)
	}
}

// TestPause: spans that follow each other within the pause share one look.
func TestPause(t *testing.T) {
	r := newRoot(t)
	w := r.watcher()
	r.stat(100, 100, 0)
	w.Begin(t.Context(), bench.Device{}, false).End(t.Context())
	r.now = r.now.Add(pause - 1)
	r.stat(200, 200, 0)
	if m := w.look(); m.all.total() != w.past[0].all.total() || len(w.past) != 1 {
		t.Errorf("looked again within the pause: %+v", w.past)
	}
	r.now = r.now.Add(1)
	if m := w.look(); m.all.total() == w.past[0].all.total() || len(w.past) != 2 {
		t.Errorf("did not look after the pause: %+v", w.past)
	}
}

// TestLongBefore: what others did while nothing was measured, as before a lease is
// given, says nothing of a short span after it.
func TestLongBefore(t *testing.T) {
	r := newRoot(t)
	w := r.watcher()
	r.now = r.now.Add(10 * time.Minute)
	r.stat(120_000, 0, 0)
	s := w.Begin(t.Context(), bench.Device{}, false)
	r.now = r.now.Add(500 * time.Millisecond)
	r.stat(120_000, 100, 0)
	if h := s.End(t.Context()); h.Status != bench.Healthy {
		t.Errorf("%s %q", h.Status, h.Reasons)
	}
}

func TestClocks(t *testing.T) {
	r := newRoot(t)
	r.write("sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "2600000\n")
	r.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3200000\n")
	r.write("sys/devices/system/cpu/cpu1/acpi_cppc/nominal_freq", "2600\n")
	r.write("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "2000000\n")
	r.write("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n")
	r.write("sys/class/thermal/thermal_zone0/temp", "91000\n")
	r.write("sys/class/thermal/thermal_zone1/type", "iwlwifi_1\n")
	r.write("sys/class/thermal/thermal_zone1/temp", "99000\n")
	s := newSystem(r.dir, self)
	before := s.look(r.now)
	r.stat(150, 50, 0)
	var idle clocks
	idle.look(&s, before, s.look(r.now))
	if f := idle.judge(); len(f.unwell) > 0 || len(f.readings) != 1 || f.readings[0].Max != 91 {
		t.Errorf("of idle cores: %+v", f)
	}
	r.stat(196, 4, 0)
	var c clocks
	c.look(&s, before, s.look(r.now))
	if f := c.judge(); len(f.unwell) != 0 || f.readings[1].N != 2 { // (3200+2000)/2 of 2600
		t.Errorf("fast on average: %+v", f)
	}
	r.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "900000\n")
	c = clocks{}
	c.look(&s, before, s.look(r.now))
	if f := c.judge(); len(f.unwell) != 1 || !strings.Contains(f.unwell[0], "56 % of their base") {
		t.Errorf("slow: %+v", f)
	}
}

func TestKin(t *testing.T) {
	r := newRoot(t)
	r.process(self, 1, 0, 4001)
	r.process(4001, self, 0, 4002)
	r.process(4002, 4001, 0)
	r.process(5000, 1, 0)
	r.process(6000, 6001, 0)
	r.process(6001, 6000, 0) // a circle
	s := newSystem(r.dir, self)
	for pid, want := range map[int]kin{self: ours, 4002: ours, 5000: others, 7000: unclear, 6000: unclear, 1: others} {
		if got := s.kinOf(pid); got != want {
			t.Errorf("%d is %d, want %d", pid, got, want)
		}
	}
	if !ended(1 << 30) {
		t.Error("a process that cannot be is not gone")
	}
}

// TestThisMachine looks at the one that the test runs on. Nothing is known of it
// but that it can be looked at, on Linux.
func TestThisMachine(t *testing.T) {
	s := New(Options{Now: time.Now}).Begin(t.Context(), bench.Device{Vendor: "cpu"}, false)
	h := s.End(t.Context())
	if h.Status != bench.Healthy && len(h.Reasons) == 0 {
		t.Errorf("%+v", h)
	}
	if (&bench.Result{Health: h}).Health.Status == "" {
		t.Error("no status")
	}
}

func FuzzStat(f *testing.F) {
	f.Add([]byte("cpu  3971666 1259 977887 5750968 63303 0 15991 9314 0 0\ncpu0 1 2 3 4\nintr 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, each, err := parseStat(data)
		if (err == nil) != (all.total() > 0 && each != nil) || all.total() > 8*maxTicks {
			t.Errorf("%+v %v", all, err)
		}
	})
}

func FuzzProcess(f *testing.F) {
	f.Add([]byte("4000 (a) b) (c) S 1 4000 4000 0 -1 4194560 1 1 1 1 5 6 7 8 20 0 1 0 100 1 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if parent, used, ok := parseProcess(data); parent < 0 || used > 4*maxTicks || !ok && used != 0 {
			t.Errorf("%d %d %v", parent, used, ok)
		}
	})
}

func FuzzPressure(f *testing.F) {
	f.Add([]byte("some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if v, _ := parsePressure(data); v < 0 || v > 1e13 {
			t.Error(v)
		}
		if v, _ := parseLoad(data); v > maxQuantity || v < -maxQuantity {
			t.Error(v)
		}
	})
}

func BenchmarkLook(b *testing.B) {
	if _, err := os.Stat("/proc/stat"); err != nil {
		b.Skip("no /proc here")
	}
	s := newSystem("/", os.Getpid())
	for b.Loop() {
		s.look(moment)
	}
}

func BenchmarkSpan(b *testing.B) {
	w := New(Options{Now: time.Now})
	for b.Loop() {
		w.Begin(b.Context(), bench.Device{}, false).End(b.Context())
	}
}
