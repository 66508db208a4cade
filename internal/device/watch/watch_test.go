package watch

import (
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	gpuA = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
	gpuB = "GPU-89111111-d72c-4106-c12f-20bd9faed9f6"

	known = "WATCH_TEST_FIELDS" // the variable with the fields that not each driver has
	ends  = "WATCH_TEST_ENDS"   // the variable with the rounds after which the stand-in ends; "" for never
)

// TestMain makes this test's binary an nvidia-smi when it is called so.
func TestMain(m *testing.M) {
	if strings.HasPrefix(filepath.Base(os.Args[0]), "nvidia-smi") {
		os.Exit(playSMI(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// playSMI prints rows of two GPUs and a complaint in each round, in another time zone, and notes in a file beside it when it
// starts and ends.
func playSMI(args []string) int {
	note("+", args[len(args)-1])
	defer note("-", args[len(args)-1])
	fields := strings.Split(strings.TrimPrefix(args[0], "--query-gpu="), ",")
	for _, field := range fields[3+len(Quantities):] {
		if !slices.Contains(strings.Split(os.Getenv(known), ","), field) {
			fmt.Printf("Field \"%s\" is not a valid field to query.\n", field)
			return 2
		}
	}
	if os.Getenv(ends) == "0" {
		fmt.Println("No devices were found")
		return 6
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	for n := 1; ; n++ {
		stamp := time.Now().UTC().Add(3*time.Hour + 30*time.Minute).Format(stampLayout)
		a := map[string]string{"clocks_event_reasons.active": "0x0000000000000041", "clocks_throttle_reasons.active": "0x0000000000000004"}
		b := map[string]string{"clocks_event_reasons.active": "[N/A]", "clocks_throttle_reasons.active": "[N/A]"}
		fmt.Println(stamp + ", 0, " + gpuA + ", 1980, 2619, 300.5, 61000, 60, 97" + columns(a, fields))
		fmt.Println("Unable to determine the device handle for GPU 0000:2A:00.0: GPU is lost.")
		fmt.Println(stamp + ", 1, " + gpuB + ", [N/A], 2619, 100, 4, 40, 0" + columns(b, fields))
		if os.Getenv(ends) == fmt.Sprint(n) {
			fmt.Println("GPU has fallen off the bus")
			return 15
		}
		select {
		case <-ended:
			return 0
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func columns(of map[string]string, fields []string) (text string) {
	for _, field := range fields[3+len(Quantities):] {
		text += ", " + of[field]
	}
	return text
}

func note(what, period string) {
	f, err := os.OpenFile(filepath.Join(os.Getenv("PATH"), "notes"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, _ = f.WriteString(what + strings.TrimPrefix(period, "--loop-ms=") + " ")
		_ = f.Close()
	}
}

// installed returns a watch of a host where the stand-in is the only program, and the folder of its notes.
func installed(t *testing.T, environ ...string) (h *Host, dir string) {
	t.Helper()
	dir = t.TempDir()
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(dir, "nvidia-smi"))
	}
	if err != nil {
		t.Skipf("nvidia-smi was NOT played, because a link is a privilege here: %v", err)
	}
	return New(append(environ, "PATH="+dir, "GORACE=atexit_sleep_ms=0"), time.Now), dir
}

// TestOneProgram: however many ask, at most one nvidia-smi runs, with the shortest period that was asked for, and none when all have left.
func TestOneProgram(t *testing.T) {
	t.Parallel()
	h, dir := installed(t, known+"=clocks_event_reasons.active")
	health := h.Join(time.Second)
	health.Await(t.Context(), time.Minute, Whole)
	energy := h.Join(100 * time.Millisecond)
	energy.Await(t.Context(), time.Minute, Whole)
	gauge := h.Join(500 * time.Millisecond)
	gauge.Await(t.Context(), time.Minute, Whole)
	before := len(health.Rows())
	health.Leave()
	health.Leave()
	for name, r := range map[string]*Reader{"energy": energy, "gauge": gauge, "health": health} {
		if rows := r.Rows(); !Whole(rows) || r.Trouble() != "" {
			t.Errorf("%s has %d rows, %q", name, len(rows), r.Trouble())
		}
	}
	energy.Leave()
	gauge.Leave()
	if n := len(health.Rows()); n < before || len(energy.Rows()) < len(gauge.Rows()) || len(h.rows) != 0 {
		t.Errorf("health kept %d rows of %d, energy %d, gauge %d, the host %d", n, before, len(energy.Rows()), len(gauge.Rows()), len(h.rows))
	}
	again := h.Join(time.Second)
	again.Await(t.Context(), time.Minute, Whole)
	again.Leave()
	notes, err := os.ReadFile(filepath.Join(dir, "notes"))
	if want := "+1000 -1000 +100 -100 +1000 -1000 "; err != nil || string(notes) != want {
		t.Errorf("nvidia-smi started and ended as %q, want %q, %v", notes, want, err)
	}
}

// TestDrivers: each driver is asked for what it has.
func TestDrivers(t *testing.T) {
	t.Parallel()
	for fields, want := range map[string]Reasons{
		"clocks_event_reasons.active":    0x41,
		"clocks_throttle_reasons.active": 0x4,
		"":                               -1,
	} {
		h, _ := installed(t, known+"="+fields)
		r := h.Join(time.Second)
		r.Await(t.Context(), time.Minute, Whole)
		r.Leave()
		rows := r.Rows()
		if !Whole(rows) {
			t.Fatalf("driver with %q: %d rows, %s", fields, len(rows), r.Trouble())
		}
		a, b := rows[0], rows[1]
		if a.Value(Power) != 300.5 || a.Reasons != want || a.Value(SMClock) != 1980 || a.Value(Memory) != 61000 {
			t.Errorf("driver with %q: %+v", fields, a)
		}
		if b.GPU.UUID != gpuB || b.Value(Power) != 100 || b.Reasons.Known() || !math.IsNaN(b.Value(SMClock)) || b.Value(Busy) != 0 {
			t.Errorf("driver with %q: %+v", fields, b)
		}
		if age := time.Since(a.At); age < 0 || age > time.Minute {
			t.Errorf("a row is %v old", age)
		}
	}
}

// TestTrouble: a reader of rows that cannot come gets the reason at once, and a later one starts nvidia-smi again.
func TestTrouble(t *testing.T) {
	t.Parallel()
	all := known + "=clocks_event_reasons.active"
	lost, _ := installed(t, all, ends+"=2")
	none, _ := installed(t, all, ends+"=0")
	broken, _ := installed(t, known+"=")
	for name, c := range map[string]struct {
		host *Host
		rows int
		want string
	}{
		"ends":      {lost, 4, "nvidia-smi ended early (exit code 15: GPU has fallen off the bus): run it"},
		"no device": {none, 0, "nvidia-smi lists no GPU (exit code 6: No devices were found): run nvidia-smi"},
		"absent":    {New([]string{"PATH=" + t.TempDir()}, time.Now), 0, "nvidia-smi is not installed: install"},
		"old":       {broken, 4, ""}, // the last query asks for nothing that it lacks
	} {
		for range 2 {
			r := c.host.Join(time.Second)
			r.Await(t.Context(), time.Minute, func(rows []Row) bool { return c.want == "" && len(rows) >= c.rows })
			r.Leave()
			if got := r.Trouble(); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" || len(r.Rows()) < c.rows {
				t.Errorf("%s: %d rows, %q, want %q", name, len(r.Rows()), got, c.want)
			}
		}
	}
}

// TestTimes: the time of a row is that of its stamp, whatever the zone of the driver, and also where the host's clock was set
// meanwhile. A stamp that cannot be is refused.
func TestTimes(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, zone := range []time.Duration{0, 3*time.Hour + 30*time.Minute, -8 * time.Hour} {
		for _, age := range []time.Duration{0, 40 * time.Millisecond, 5 * time.Second} {
			got, ok := at(now.Round(0).Add(zone-age), now)
			if !ok || now.Sub(got) != age { // by the monotonic clock, which is not set
				t.Errorf("zone %v: %v old instead of %v, %v", zone, now.Sub(got), age, ok)
			}
		}
	}
	for _, age := range []time.Duration{-2 * time.Second, 2 * time.Minute} {
		if _, ok := at(now.Round(0).Add(-age), now); ok {
			t.Errorf("a stamp of %v ago was taken", age)
		}
	}
}

// TestRecordedNVIDIA reads what scripts/gpu.sh recorded of a real GPU where ACCELGATE_GPU_FIXTURES names its folder, and
// the rows of an H100 without it.
func TestRecordedNVIDIA(t *testing.T) {
	path := filepath.Join("..", "testdata", "h100", "watch.csv")
	if folder := os.Getenv("ACCELGATE_GPU_FIXTURES"); folder != "" {
		path = filepath.Join(folder, "watch.csv")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		stamp, _, _ := strings.Cut(line, ",")
		now, _ := time.Parse(stampLayout, stamp)
		r, ok := queries[0].parse(line, now)
		if !ok || !strings.HasSuffix(line, "\n") {
			continue
		}
		if n++; !(r.Value(SMClock) > 0 && r.Value(Power) > 0 && r.Value(Temperature) > 0) || !r.Reasons.Known() {
			t.Errorf("%q is %+v", line, r)
		}
	}
	if n < 3 {
		t.Errorf("%d rows were read of\n%.500s", n, text)
	}
}

func TestReasons(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]Reasons{
		"0x0000000000000000": 0, "0x1": 1, "0x0000000000000113": 0x113, "[N/A]": -1, "": -1, "4": -1, "0xZ": -1, "0x10000000000000000": -1, "-0x4": -1,
	} {
		if got := reasonsOf(cell); got != want {
			t.Errorf("%q is %x, want %x", cell, got, want)
		}
	}
	if heat := SoftwareHeat | HardwareHeat; Reasons(-1).Has(heat) || !Reasons(0x41).Has(heat) || Reasons(1).Has(heat) {
		t.Error("reasons that are not known, of heat, and none are mixed up")
	}
}

// FuzzRow: whatever is printed, a row has a GPU, and numbers and a time that can be.
func FuzzRow(f *testing.F) {
	f.Add("2026/03/04 12:00:00.000, 0, " + gpuA + ", 1980, 2619, 312.51, 61234, 46, 98")
	f.Add("2026/03/04 12:00:00.000, 0, " + gpuA + ", 1980, 2619, 312.51, 61234, 46, 98, 0x0000000000000004")
	f.Add("2026/03/04 12:00:00.000, 0, " + gpuA + ", [N/A], NaN, -1, 1e400, 0x1p3, ")
	f.Add("Unable to determine the device handle for GPU 0000:2A:00.0: GPU is lost.")
	now := time.Date(2026, 3, 4, 12, 0, 1, 0, time.UTC)
	f.Fuzz(func(t *testing.T, line string) {
		for _, q := range queries {
			r, ok := q.parse(line, now)
			if !ok {
				continue
			}
			if r.GPU.UUID == "" || r.GPU.Index == "" || now.Sub(r.At).Abs() > maxAge || r.Reasons < -1 {
				t.Errorf("%+v", r)
			}
			for _, v := range r.Values {
				if !math.IsNaN(v) && !(v >= 0 && v <= maxQuantity) {
					t.Errorf("%+v", r)
				}
			}
		}
	})
}

// TestWhole: the GPUs are known when one of them comes again.
func TestWhole(t *testing.T) {
	t.Parallel()
	var rows []Row
	for _, uuid := range []string{gpuA, gpuB, gpuA} {
		if Whole(rows) {
			t.Errorf("%d rows are whole", len(rows))
		}
		r := Row{}
		r.GPU.UUID = uuid
		rows = append(rows, r)
	}
	if !Whole(rows) {
		t.Error("a second round has begun")
	}
	var uuids []string
	for _, g := range Listed(rows) {
		uuids = append(uuids, g.UUID)
	}
	if diff := cmp.Diff([]string{gpuA, gpuB}, uuids); diff != "" {
		t.Errorf("GPUs (-want +got):\n%s", diff)
	}
}
