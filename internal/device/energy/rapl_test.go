package energy

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
)

// tree is what stands below /sys/class/powercap, by path.
type tree map[string]string

// with returns t with other files; an empty text takes a file away.
func (t tree) with(pairs ...string) tree {
	all := tree{}
	for path, text := range t {
		all[path] = text
	}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return all
}

func (t tree) install(tb testing.TB) (root string) {
	tb.Helper()
	root = tb.TempDir()
	for path, text := range t {
		if text != "" {
			writeFile(tb, filepath.Join(root, "sys/class/powercap", path), text)
		}
	}
	return root
}

func writeFile(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

func powercap(zones ...string) tree {
	t := tree{}
	for i := 0; i < len(zones); i += 2 {
		t[zones[i]+"/name"] = zones[i+1] + "\n"
		t[zones[i]+"/energy_uj"] = "1000000\n"
		t[zones[i]+"/max_energy_range_uj"] = "262143328850\n"
	}
	return t
}

var server = powercap("intel-rapl:0", "package-0", "intel-rapl:0:0", "core", "intel-rapl:0:1", "dram", "intel-rapl:0:2", "uncore",
	"intel-rapl:1", "package-1", "intel-rapl:1:0", "dram", "intel-rapl:2", "psys", "intel-rapl-mmio:0", "package-0", "intel-rapl", "package-7", "dtpm", "x")

func TestDetectRAPL(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tree   tree
		scope  []string
		absent map[string]string
	}{
		"server": {tree: server, scope: []string{"cpu-package-0", "cpu-package-1", "dram-0", "dram-1"}},
		"desk": {tree: powercap("intel-rapl:0", "package-0", "intel-rapl:0:0", "core", "intel-rapl:1", "psys", "intel-rapl:1:0", "dram"),
			scope: []string{"cpu-package-0"}},
		"dies":      {tree: powercap("intel-rapl:0", "package-0-die-0", "intel-rapl:1", "package-0-die-1"), scope: []string{"cpu-package-0-die-0", "cpu-package-0-die-1"}},
		"twice":     {tree: powercap("intel-rapl:0", "package-0", "intel-rapl:1", "package-0"), scope: []string{"cpu-package-0"}},
		"no memory": {tree: server.with("intel-rapl:1:0/energy_uj", "lots"), scope: []string{"cpu-package-0", "cpu-package-1", "dram-0"}, absent: map[string]string{"dram-1": `"lots" is not a number`}},
		"no number": {tree: server.with("intel-rapl:1/energy_uj", ""), absent: map[string]string{"cpu": "energy_uj of cpu-package-1 cannot be read (no such file"}},
		"negative":  {tree: server.with("intel-rapl:1/energy_uj", "-5"), absent: map[string]string{"cpu": `"-5" is not a number`}},
		"no range":  {tree: server.with("intel-rapl:0/max_energy_range_uj", ""), absent: map[string]string{"cpu": "max_energy_range_uj of cpu-package-0"}},
		"tiny":      {tree: server.with("intel-rapl:0/max_energy_range_uj", "1000"), absent: map[string]string{"cpu": "starts over after 1000 microjoules"}},
		"names":     {tree: powercap("intel-rapl:0", "package-0\x1b[31m", "intel-rapl:x", "package-0"), absent: map[string]string{"cpu": "lists no package"}},
		"empty":     {tree: tree{"README": "x"}, absent: map[string]string{"cpu": "lists no package"}},
	} {
		meters, absent := Detect(t.Context(), Options{CPU: true, Root: tt.tree.install(t)})
		t.Run(name, func(t *testing.T) { checkAbsent(t, absent, tt.absent) })
		var scope []string
		for _, m := range meters {
			scope = append(scope, m.Scope()...)
		}
		if diff := cmp.Diff(tt.scope, scope); diff != "" {
			t.Errorf("%s: scope (-want +got):\n%s", name, diff)
		}
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	for _, errno := range []error{syscall.EACCES, syscall.EPERM} {
		if err := unreadable(errno, "cpu-package-0", "intel-rapl:0"); !strings.HasPrefix(err.Error(), "energy_uj is readable by root only: ") {
			t.Errorf("%v: %v", errno, err)
		}
	}
	if os.Geteuid() == 0 {
		t.Skip("a forbidden energy_uj was NOT opened, because root may open all: run the tests as another user, too")
	}
	root := server.install(t)
	if err := os.Chmod(filepath.Join(root, "sys/class/powercap/intel-rapl:1/energy_uj"), 0); err != nil {
		t.Fatal(err)
	}
	_, absent := Detect(t.Context(), Options{CPU: true, Root: root})
	checkAbsent(t, absent, map[string]string{"cpu": "readable by root only"})
}

// machine is a powercap tree that uses constant power by a clock of its own,
// which goes on each time it is read.
type machine struct {
	root  string
	watts map[string]float64 // by zone
	wrap  uint64
	now   atomic.Int64
	looks atomic.Int64
	after func(looks int64) // called behind each look
}

func (m *machine) Now() time.Duration {
	now := m.now.Add(int64(7 * time.Millisecond))
	for zone, watts := range m.watts {
		uj := uint64(watts*float64(now)/1000) % m.wrap
		path := filepath.Join(m.root, "sys/class/powercap", zone, "energy_uj")
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.WriteFile(path, fmt.Appendln(nil, uj), 0o600); err != nil {
			panic(err)
		}
	}
	if m.after != nil {
		m.after(m.looks.Add(1))
	}
	return time.Duration(now)
}

// TestRAPL: counters that start over several times yield the energy of
// constant power, of packages and memory and nothing else.
func TestRAPL(t *testing.T) {
	t.Parallel()
	m := &machine{wrap: 800_000_003, watts: map[string]float64{"intel-rapl:0": 2000, "intel-rapl:0:1": 1000, "intel-rapl:1": 3000, "intel-rapl:1:0": 500,
		"intel-rapl:0:0": 999, "intel-rapl:2": 7777}}
	small := server
	for zone := range m.watts {
		small = small.with(zone+"/max_energy_range_uj", fmt.Sprint(m.wrap))
	}
	m.root = small.install(t)
	var r Reading
	synctest.Test(t, func(t *testing.T) { r = readWhen(t, m, 160, 300*time.Millisecond, time.Second) })
	if !r.Measured {
		t.Fatal(r.Reason)
	}
	const watts = 2000 + 1000 + 3000 + 500
	if math.Abs(r.AverageW-watts) > 0.01 || math.Abs(r.PeakW-watts) > 1 || math.Abs(r.Joules-watts*r.Span.seconds()) > 0.02 {
		t.Errorf("%v W read as %+v", watts, r)
	}
	if r.Method != "rapl-package-delta" || len(r.Scope) != 4 {
		t.Errorf("scope %v, method %s", r.Scope, r.Method)
	}
}

// readWhen samples until the clock was read so many times, and reads a span.
func readWhen(t *testing.T, m *machine, looks int64, start, end time.Duration) Reading {
	t.Helper()
	meters, absent := Detect(t.Context(), Options{Now: m.Now, Devices: []bench.Device{{Vendor: "cpu"}}, Root: m.root})
	if len(meters) != 1 {
		t.Fatal(absent)
	}
	ready := make(chan struct{})
	also := m.after
	m.after = func(n int64) {
		if also != nil {
			also(n)
		}
		if n == looks {
			close(ready)
		}
	}
	meters[0].Start(t.Context())
	<-ready
	meters[0].Stop()
	return meters[0].Read(Span{start, end}, Span{})
}

func TestRAPLVanishes(t *testing.T) {
	t.Parallel()
	m := &machine{wrap: 1 << 40, watts: map[string]float64{"intel-rapl:0": 200, "intel-rapl:1": 300}}
	m.root = powercap("intel-rapl:0", "package-0", "intel-rapl:1", "package-1").install(t)
	m.after = func(n int64) {
		if n == 40 {
			_ = os.Remove(filepath.Join(m.root, "sys/class/powercap/intel-rapl:1/energy_uj"))
		}
	}
	var r Reading
	synctest.Test(t, func(t *testing.T) { r = readWhen(t, m, 80, 100*time.Millisecond, 450*time.Millisecond) })
	if r.Measured || !strings.Contains(r.Reason, "cpu-package-1") || !strings.Contains(r.Reason, "could not be read any more (no such file") || !math.IsNaN(r.Joules) {
		t.Errorf("with a package that vanished: %+v", r)
	}
}

// TestCounterWraps: whatever is used between two looks, short of the whole
// range, is counted.
func TestCounterWraps(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		wrap := 400_000_000 + rng.Uint64N(1<<38)
		z := zone{scope: "x", wrap: wrap}
		r := &zoneReader{zone: z, counter: counter{series{scope: "x", gap: z.gap()}}}
		first := rng.Uint64N(wrap)
		used, at := uint64(0), time.Duration(0)
		for i := range 60 {
			if i > 0 {
				step := time.Duration(1 + rng.Int64N(int64(z.gap())))
				at += step
				used += rng.Uint64N(1 + min(wrap-1, uint64(maxZoneW*step.Seconds()*1e6)))
			}
			r.count(at, (first+used)%wrap)
		}
		if r.fault != "" || told([]track{&r.counter}, Span{0, at}) != "" {
			t.Fatalf("wrap %d: %s", wrap, r.fault)
		}
		if got := r.joules(Span{0, at}); math.Abs(got-float64(used)/1e6) > 1e-6+1e-12*got {
			t.Fatalf("wrap %d: %v J, used were %d uJ", wrap, got, used)
		}
	}
}

func TestCounterFaults(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		counts []uint64 // 100 ms apart
		fault  string
	}{
		"set back": {[]uint64{5e9, 6e9 - 900e6, 0, 1}, "set back or jumped"},
		"jumped":   {[]uint64{0, 100, 90e9}, "set back or jumped"},
		"too much": {[]uint64{0, 300e9}, "above its own limit"},
		"idle":     {[]uint64{7, 7, 7}, ""},
	} {
		z := zone{scope: "x", wrap: 200e9}
		r := &zoneReader{zone: z, counter: counter{series{scope: "x", gap: z.gap()}}}
		for i, count := range tt.counts {
			if r.fault == "" {
				r.count(time.Duration(i)*period, count)
			}
		}
		if (r.fault == "") != (tt.fault == "") || !strings.Contains(r.fault, tt.fault) {
			t.Errorf("%s: fault %q, want %q", name, r.fault, tt.fault)
		}
	}
}

// FuzzRAPL: whatever the files hold, a meter has energies that its zones can
// have used, or none.
func FuzzRAPL(f *testing.F) {
	f.Add("package-0\n", "1000000\n", "262143328850\n", uint64(5), uint64(1e6))
	f.Add("package-0-die-1", "18446744073709551615", "0", uint64(0), uint64(0))
	f.Add("package-0", "1e9", "4611686018427387904", uint64(1<<62), uint64(1<<63))
	f.Add("dram", "\x00", strings.Repeat("9", 300), uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, name, energy, limit string, second, third uint64) {
		root := tree{"intel-rapl:0/name": name, "intel-rapl:0/energy_uj": energy, "intel-rapl:0/max_energy_range_uj": limit, "x": "x"}.install(t)
		meters, absent := Detect(t.Context(), Options{CPU: true, Root: root})
		if len(meters)+len(absent) != 1 {
			t.Fatalf("%d meters, absent %v", len(meters), absent)
		}
		if len(meters) == 0 {
			return
		}
		z := meters[0].sampler.(*rapl).zones[0]
		r := &zoneReader{zone: z, counter: counter{series{scope: z.scope, gap: z.gap()}}}
		for i, count := range []uint64{1, second, third} {
			if r.fault == "" {
				r.count(time.Duration(i)*period, count)
			}
		}
		span := Span{0, 2 * period}
		if told([]track{&r.counter}, span) != "" {
			return
		}
		if j := r.joules(span); !(j >= 0 && j <= maxZoneW*span.seconds()+2) {
			t.Errorf("%v J", j)
		}
	})
}

// BenchmarkLook is what a meter costs ten times a second: the counters of two
// packages with memory, against reading the same files with os.ReadFile.
func BenchmarkLook(b *testing.B) {
	root := server.install(b)
	m, absent := detectRAPL(nil, root)
	if m == nil {
		b.Fatal(absent)
	}
	zones := m.sampler.(*rapl).zones
	b.Run("meter", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, z := range zones {
				if _, err := readCount(z.file); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, z := range zones {
				if _, err := os.ReadFile(z.file); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
