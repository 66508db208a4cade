package kernels

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device/gauge"
	"github.com/accelgate/accelgate/internal/device/watch"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness/gokernel"
)

// rowsFile is the variable with the file that the stand-in for nvidia-smi makes longer with each row. Where it is set, Go's
// worker has a GPU of CUDA.
const rowsFile = "KERNELS_TEST_ROWS"

// playSMI prints rows of two GPUs, as nvidia-smi does that is asked for clocks and reasons, until the file is gone.
func playSMI(args []string) int {
	const wanted = "--query-gpu=timestamp,index,uuid,clocks.sm,clocks.mem,power.draw,memory.used,temperature.gpu,utilization.gpu," +
		"clocks_event_reasons.active --format=csv,noheader,nounits --loop-ms=500"
	if got := strings.Join(args, " "); got != wanted {
		fmt.Printf("Field \"%s\" is not a valid field to query.\n", got)
		return 2
	}
	for {
		stamp := time.Now().UTC().Format("2006/01/02 15:04:05.000")
		fmt.Printf("%s, 0, GPU-8932f937-d72c-4106, 1000, 2619, 300.5, 61000, 40, 97, 0x0000000000000001\n", stamp)
		fmt.Printf("%s, 1, GPU-11111111-d72c-4106, 1755, 2619, 300.5, 61000, 61, 97, 0x0000000000000040\n", stamp)
		f, err := os.OpenFile(os.Getenv(rowsFile), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return 0
		}
		_, _ = f.WriteString(".")
		_ = f.Close()
		time.Sleep(10 * time.Millisecond)
	}
}

// serveGPU is Go's worker with a GPU, whose own times take until nvidia-smi has printed rows.
func serveGPU(in io.Reader, out io.Writer) {
	fromUs, toWorker := io.Pipe()
	fromWorker, toUs := io.Pipe()
	go func() { _ = gokernel.Serve(context.Background(), fromUs, toUs, time.Now) }()
	requests, replies := bufio.NewReader(in), bufio.NewReader(fromWorker)
	for {
		line, err := requests.ReadBytes('\n')
		var request struct{ Op string }
		if err != nil || json.Unmarshal(line, &request) != nil {
			return
		}
		_, _ = toWorker.Write(line)
		for {
			reply, _ := replies.ReadBytes('\n')
			var f map[string]json.RawMessage
			if json.Unmarshal(reply, &f) != nil {
				return
			}
			if f["event"] == nil {
				_, _ = out.Write(append(withGPU(request.Op, f), '\n'))
				break
			}
		}
	}
}

func withGPU(op string, reply map[string]json.RawMessage) []byte {
	switch op {
	case "hello":
		reply["devices"] = json.RawMessage(`[{"id": "cuda:0", "kind": "cuda", "name": "GPU"}]`)
	case "observe":
		awaitRows(3)
		delete(reply, "error")
		reply["ok"], reply["method"], reply["ns"] = json.RawMessage("true"), json.RawMessage(`"delay"`), json.RawMessage("[1,2,3,4,5,6,7,8,9,10]")
		reply["clock"] = json.RawMessage(`{"sm_mhz": 5}`)
	}
	line, _ := json.Marshal(reply)
	return line
}

// awaitRows waits until nvidia-smi has printed more rows, if it runs.
func awaitRows(more int64) {
	size := func() int64 {
		info, err := os.Stat(os.Getenv(rowsFile))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	for begun := size(); begun > 0 && size() < begun+more; {
		time.Sleep(time.Millisecond)
	}
}

// onGPUs installs the stand-in, on a host with accelerators, and a worker with a GPU.
func onGPUs(t *testing.T, accelerators ...bench.Accelerator) func(*suite.Env) {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(dir, "nvidia-smi"))
	}
	if err != nil {
		t.Skipf("nvidia-smi was NOT played, because a link is a privilege here: %v", err)
	}
	rows := filepath.Join(dir, "rows")
	writeFile(t, rows, "")
	return func(e *suite.Env) {
		e.Host.Accelerators = accelerators
		e.Environ = []string{"PATH=" + dir, rowsFile + "=" + rows, "GORACE=atexit_sleep_ms=0"}
		e.Watch = watch.New(e.Environ, time.Now)
	}
}

// TestClocksOfTrials: traces have what nvidia-smi reports of the device that a case is pinned to while it is timed, and what the
// worker reports where nvidia-smi is not asked.
func TestClocksOfTrials(t *testing.T) {
	t.Parallel()
	two := []bench.Accelerator{{Vendor: "nvidia", Model: "X"}, {Vendor: "nvidia", Model: "X"}}
	for name, c := range map[string]struct {
		on        bench.Device
		mhz       int
		throttled bool
	}{
		"pinned":                     {bench.Device{Vendor: "nvidia", ID: "1"}, 1755, true},
		"pinned to another":          {bench.Device{Vendor: "nvidia", ID: "GPU-8932"}, 1000, false},
		"several, and none is meant": {bench.Device{}, 5, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := dataset(t)
			s := mustOpen(t, dir, quick+"dataset: .\ntraces: .\ndefinitions: [gemm_n128_k256]\nworkloads: [m1]\nreference: go\ncold_cache: false\n", onGPUs(t, two...))
			r, err := s.Measure(t.Context(), s.Plan().Cells[0], c.on)
			if err != nil || r.Outcome != bench.Passed {
				t.Fatal(err, r.Reason, r.Log)
			}
			if s := r.Sample("device_ms"); s == nil || s.Values[0] != 5.5e-6 || s.Estimates[0].N < 10 {
				t.Errorf("the time on the device is %+v, want the median of 1 to 10 ns", s)
			}
			loaded, err := flashinfer.Load(dir)
			if err != nil || len(loaded.Traces) != 1 {
				t.Fatalf("%d traces, %v", len(loaded.Traces), err)
			}
			for _, d := range loaded.Traces[0].Evaluation.Gate.Device {
				if d.MHz != c.mhz || d.Throttled != c.throttled {
					t.Errorf("a trial has %d MHz, throttled: %v; want %d, %v", d.MHz, d.Throttled, c.mhz, c.throttled)
				}
			}
			if len(loaded.Traces[0].Evaluation.Gate.Device) == 0 {
				t.Error("no trial has times of the device")
			}
			imported, err := flashinfer.ToRun(loaded.Traces, "", "h", "accelgate")
			if err != nil || imported.Results[0].Sample("device_ms") == nil || !slices.ContainsFunc(imported.Metrics, func(m bench.Metric) bool { return m.Name == "device_ms" && !m.Informational }) {
				t.Errorf("a run of the traces lacks the time on the device: %+v, %v", imported, err)
			}
		})
	}
}

// TestWhichDeviceIsUsed: nvidia-smi is asked about one GPU, or not at all.
func TestWhichDeviceIsUsed(t *testing.T) {
	t.Parallel()
	nv := bench.Accelerator{Vendor: "nvidia", Model: "X"}
	slice := nv
	slice.Slot = bench.Slot{UUID: "MIG-1", Profile: "1g.10gb"}
	amd := bench.Accelerator{Vendor: "amd", Model: "X"}
	one := func(id string) []bench.Device { return []bench.Device{{Vendor: "nvidia", ID: id}} }
	for _, c := range []struct {
		on     bench.Device
		device string // of the configuration
		host   []bench.Accelerator
		want   []bench.Device
		ok     bool
	}{
		{bench.Device{}, "", []bench.Accelerator{nv}, nil, true},
		{bench.Device{}, "", []bench.Accelerator{nv, nv}, nil, false},
		{bench.Device{}, "", []bench.Accelerator{slice}, nil, false},
		{bench.Device{}, "", []bench.Accelerator{amd}, nil, false},
		{bench.Device{}, "", nil, nil, false},
		{bench.Device{Vendor: "nvidia", ID: "2"}, "", nil, one("2"), true},
		{bench.Device{Vendor: "nvidia", ID: "2,3"}, "", nil, one("2"), true},
		{bench.Device{Vendor: "nvidia", ID: "2,3"}, "cuda", nil, one("2"), true},
		{bench.Device{Vendor: "nvidia", ID: "2,3"}, "cuda:1", nil, one("3"), true},
		{bench.Device{Vendor: "nvidia", ID: "2,3"}, "cuda:2", nil, nil, false},
		{bench.Device{Vendor: "nvidia", ID: "2,3"}, "cuda:-1", nil, nil, false},
		{bench.Device{Vendor: "nvidia", ID: "2,3"}, "cuda:x", nil, nil, false},
		{bench.Device{Vendor: "nvidia", ID: "MIG-1"}, "", []bench.Accelerator{slice}, nil, false},
		{bench.Device{Vendor: "amd", ID: "0"}, "", []bench.Accelerator{amd}, nil, false},
		{bench.Device{Vendor: "cpu"}, "", []bench.Accelerator{nv}, nil, false},
	} {
		s := &Suite{body: &body{Device: c.device}}
		s.env.Host.Accelerators = c.host
		got, ok := s.used(c.on)
		if diff := cmp.Diff(c.want, got); diff != "" || ok != c.ok {
			t.Errorf("on %v with device %q: %v (-want +got):\n%s", c.on, c.device, ok, diff)
		}
	}
}

func TestClockOf(t *testing.T) {
	t.Parallel()
	read := func(name string, mean, maximum float64) gauge.Reading {
		return gauge.Reading{Device: "GPU-1", Name: name, N: 2, Mean: mean, Max: maximum}
	}
	for _, c := range []struct {
		of   []gauge.Reading
		want *harness.Clock
	}{
		{nil, nil},
		{[]gauge.Reading{read(gauge.HeldBack, 1, 1), read(watch.Temperature, 60, 61)}, nil},
		{[]gauge.Reading{read(watch.SMClock, 1754.6, 1980)}, &harness.Clock{MHz: 1755}},
		{[]gauge.Reading{read(watch.SMClock, 1000, 1980), read(watch.Temperature, 60, 61), read(gauge.HeldBack, 0.1, 1)}, &harness.Clock{MHz: 1000, Temperature: 61, Throttled: true}},
		{[]gauge.Reading{read(watch.SMClock, 1000, 1980), read(gauge.HeldBack, 0, 0)}, &harness.Clock{MHz: 1000}},
	} {
		if diff := cmp.Diff(c.want, clockOf(c.of)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.of, diff)
		}
	}
}
