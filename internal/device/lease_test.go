package device_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// leaseRole names what the test binary does as another job; leaseJob is a job
// in JSON.
const (
	leaseRole = "HOST_TEST_ROLE"
	leaseJob  = "HOST_TEST_JOB"
)

// job is another accelgate on the same host: the test binary in a role.
type job struct {
	Dir, Name string
	Devices   []bench.Device
	Counter   string // file that holds a number
	Rounds    int
	Seed      uint64 // of the orders in which devices are asked for
}

func noon() time.Time { return time.Date(2026, 1, 2, 12, 3, 0, 0, time.UTC) }

func (j job) options() device.LeaseOptions {
	return device.LeaseOptions{Dir: j.Dir, Devices: j.Devices, Holder: "runner-1", Job: j.Name, Now: noon, Wait: time.Minute}
}

// playJob is the main function of the test binary in a role.
func playJob(role string) int {
	var j job
	if err := json.Unmarshal([]byte(os.Getenv(leaseJob)), &j); err != nil {
		fmt.Println(err)
		return 2
	}
	var err error
	switch role {
	case "hold":
		_, err = hold(j)
	case "hold with a child":
		err = holdWithChild(j)
	case "linger":
		fmt.Println("child lives")
		_, err = io.Copy(io.Discard, os.Stdin)
	case "count":
		err = count(j)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// hold keeps the lease until its input ends, and never releases it.
func hold(j job) (*device.Lease, error) {
	lease, err := device.Acquire(context.Background(), j.options())
	if err != nil {
		return nil, err
	}
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	return lease, err
}

func holdWithChild(j job) error {
	lease, err := device.Acquire(context.Background(), j.options())
	if err != nil {
		return err
	}
	defer lease.Release()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), leaseRole+"=linger")
	child.Stdin, child.Stdout = os.Stdin, os.Stdout
	return child.Run()
}

// count adds one to the number in a file, which is safe only with
// exclusive access.
func count(j job) error {
	order := rand.New(rand.NewPCG(j.Seed, 0))
	for range j.Rounds {
		order.Shuffle(len(j.Devices), func(a, b int) { j.Devices[a], j.Devices[b] = j.Devices[b], j.Devices[a] })
		lease, err := device.Acquire(context.Background(), j.options())
		if err != nil {
			return err
		}
		text, err := os.ReadFile(j.Counter)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(text))
		if err != nil {
			return err
		}
		runtime.Gosched()
		if err := os.WriteFile(j.Counter, []byte(strconv.Itoa(n+1)), 0o600); err != nil {
			return err
		}
		lease.Release()
	}
	return nil
}

// other is a running job. Closing its input ends it and its children.
type other struct {
	cmd   *exec.Cmd
	input io.Closer
	lines *bufio.Scanner
}

func start(t *testing.T, role string, j job) *other {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return startCommand(t, exec.Command(self), role, j)
}

func startCommand(t *testing.T, cmd *exec.Cmd, role string, j job) *other {
	t.Helper()
	doc, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), leaseRole+"="+role, leaseJob+"="+string(doc), "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	input, err1 := cmd.StdinPipe()
	output, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	o := &other{cmd, input, bufio.NewScanner(output)}
	t.Cleanup(func() { o.end(); _ = cmd.Wait() })
	return o
}

func (o *other) expect(t *testing.T, line string) {
	t.Helper()
	if !o.lines.Scan() || o.lines.Text() != line {
		t.Fatalf("the other job says %q, want %q", o.lines.Text(), line)
	}
}

// end closes the job's input and waits until it and its children are gone.
func (o *other) end() {
	o.input.Close()
	for o.lines.Scan() {
	}
}

func nvidia(ids ...string) []bench.Device {
	var devices []bench.Device
	for _, id := range ids {
		devices = append(devices, bench.Device{Vendor: "nvidia", ID: id})
	}
	return devices
}

// now tries to lease without waiting.
func now(t *testing.T, dir string, devices []bench.Device) (*device.Lease, error) {
	t.Helper()
	o := job{Dir: dir, Name: "test", Devices: devices}.options()
	o.Wait = 0
	lease, err := device.Acquire(t.Context(), o)
	t.Cleanup(lease.Release)
	return lease, err
}

func wantBusy(t *testing.T, err error, parts ...string) {
	t.Helper()
	var busy *device.BusyError
	if !errors.As(err, &busy) {
		t.Fatalf("error %v, want another job to have the device", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q, want it to contain %q", err, part)
		}
	}
}

func TestLeaseIsExclusiveAmongProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	counter := filepath.Join(dir, "counter")
	write(t, counter, "0")
	const processes, rounds = 4, 25
	seed := testtier.Seed(t)
	var others []*other
	for i := range processes {
		others = append(others, start(t, "count", job{Dir: filepath.Join(dir, "leases"), Name: strconv.Itoa(i),
			Devices: nvidia("0", "1", "2"), Counter: counter, Rounds: rounds, Seed: seed + uint64(i)}))
	}
	for _, o := range others {
		for o.lines.Scan() {
			t.Error(o.lines.Text())
		}
		if err := o.cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(counter)
	if want := strconv.Itoa(processes * rounds); err != nil || string(text) != want {
		t.Errorf("counted to %s, error %v, want %s", text, err, want)
	}
}

func TestLeaseEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"hold", "hold with a child"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "leases")
			o := start(t, role, job{Dir: dir, Name: "dead", Devices: nvidia("0")})
			o.expect(t, map[string]string{"hold": "held", "hold with a child": "child lives"}[role])
			_, err := now(t, dir, nvidia("0"))
			wantBusy(t, err, fmt.Sprintf(
				"nvidia:0 is leased by job dead of runner-1 (process %d) since 2026-01-02 12:03 UTC: run again when", o.cmd.Process.Pid))

			if err := o.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if _, err := o.cmd.Process.Wait(); err != nil {
				t.Fatal(err)
			}
			if text := leaseFile(t, dir, "nvidia-0.lock"); !strings.Contains(text, "dead") {
				t.Fatalf("the file says %q, want the words of the dead", text)
			}
			lease, err := now(t, dir, nvidia("0"))
			if err != nil {
				t.Fatalf("the dead job keeps its lease: %v", err)
			}
			if text := leaseFile(t, dir, "nvidia-0.lock"); !strings.Contains(text, `"job":"test"`) || strings.Contains(text, "dead") {
				t.Errorf("the file says %q, want this job only", text)
			}
			lease.Release()
			if text := leaseFile(t, dir, "nvidia-0.lock"); strings.TrimSpace(text) != "" {
				t.Errorf("the file says %q after the lease", text)
			}
		})
	}
}

func leaseFile(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAcquireTakesAllOrNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	held, err := now(t, dir, nvidia("1"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = now(t, dir, nvidia("0", "1", "2"))
	wantBusy(t, err, "nvidia:1 is leased by")
	if _, err := now(t, dir, nvidia("0", "2")); err != nil {
		t.Errorf("the other devices are kept: %v", err)
	}
	held.Release()
	held.Release()
	if _, err := now(t, dir, nvidia("1")); err != nil {
		t.Errorf("a released device is kept: %v", err)
	}
	if _, err := now(t, dir, nil); err != nil {
		t.Errorf("no devices: %v", err)
	}
	if _, err := now(t, dir, []bench.Device{{Vendor: "cpu"}, {Vendor: "amd", ID: "1"}}); err != nil {
		t.Errorf("devices of others: %v", err)
	}
}

func TestAcquireTellsOnceForEachHolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "nvidia-0.lock")
	lock := flock.New(path, flock.SetPermissions(0o600))
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	defer lock.Close()

	told := make(chan device.Held)
	done := make(chan error)
	o := job{Dir: dir, Devices: nvidia("0")}.options()
	o.Waiting = func(h device.Held) { told <- h }
	go func() {
		lease, err := device.Acquire(t.Context(), o)
		lease.Release()
		done <- err
	}()
	want := []struct{ text, told string }{
		{"", "nvidia:0 is leased by another job"},
		{"not JSON", ""}, // still another job
		{`{"pid": 7, "job": "a"}`, "nvidia:0 is leased by job a (process 7)"},
		{`{"pid": -7, "job": "a", "since": "soon"}`, "nvidia:0 is leased by job a"},
		{`{"holder": "b\u001b[31m\n\u202e` + strings.Repeat("b", 200) + `"}`, "nvidia:0 is leased by b [31m " + strings.Repeat("b", 110) + "..."},
		{`{"job": "` + strings.Repeat("c", 1<<20) + `"}`, "nvidia:0 is leased by another job"},
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, w := range want {
		// In one piece, over all of the last text: half of one is another job.
		if _, err := file.WriteAt(fmt.Appendf(nil, "\n%-1000s", w.text), 0); err != nil {
			t.Fatal(err)
		}
		if w.told == "" {
			select {
			case h := <-told:
				t.Errorf("told %q again", h)
			case <-time.After(100 * time.Millisecond): // time for some looks
			}
			continue
		}
		if got := (<-told).String(); got != w.told {
			t.Errorf("told %q, want %q", got, w.told)
		}
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case h := <-told:
		t.Errorf("told %q again", h)
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	}
}

func TestAcquireStopsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := now(t, dir, nvidia("0")); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	o := job{Dir: dir, Devices: nvidia("0")}.options()
	o.Waiting = func(device.Held) { cancel(cause) }
	_, err := device.Acquire(ctx, o)
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), "nvidia:0 is leased by job test") {
		t.Errorf("error %v, want the cause and the holder", err)
	}
}

func TestLeaseIsOfTheDeviceWhateverItsName(t *testing.T) {
	t.Parallel()
	tools := install(t, map[string]fake{"nvidia-smi uuids": {Stdout: lines(
		"0, GPU-11aaaaaa-0000", "Unable to determine the device handle for GPU1: Unknown Error", "2, GPU-22bbbbbb-0000", "3, GPU-22cccccc-0000")}})
	dir := t.TempDir()
	acquire := func(devices ...bench.Device) (*device.Lease, error) {
		o := job{Dir: dir, Name: "test", Devices: devices}.options()
		o.Wait, o.Worker = 0, tools
		lease, err := device.Acquire(t.Context(), o)
		t.Cleanup(lease.Release)
		return lease, err
	}
	lease, err := acquire(nvidia("2")...)
	if err != nil || len(lease.Warnings) > 0 {
		t.Fatalf("lease %+v, error %v", lease, err)
	}
	for _, id := range []string{"2", "GPU-22bbbbbb-0000", "GPU-22b"} {
		_, err := acquire(nvidia(id)...)
		wantBusy(t, err, "nvidia:"+id+" is leased by job test")
	}
	if _, err := acquire(nvidia("0", "GPU-22c", "MIG-1")...); err != nil {
		t.Errorf("other devices: %v", err)
	}
	tests := []struct {
		devices []bench.Device
		want    string
	}{
		{nvidia("0", "GPU-11"), `"nvidia:0" and "nvidia:GPU-11" are the same device: name it once`},
		{nvidia("GPU-22"), `"nvidia:GPU-22" is none that nvidia-smi lists, or stands for several: choose`},
		{nvidia("GPU-77"), `"nvidia:GPU-77" is none`},
		{nvidia("1"), `"nvidia:1" is none`},
	}
	for _, test := range tests {
		if _, err := acquire(test.devices...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: error %v, want %q", test.devices, err, test.want)
		}
	}
}

func TestLeaseWarnsWhereTheDeviceIsUnknown(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		tools map[string]fake
		want  string
	}{
		{"no tool", nil, `the UUID of "nvidia:0" (it is not installed), so only jobs that name it alike are kept from it: repair nvidia-smi`},
		{"failing tool", map[string]fake{"nvidia-smi uuids": {Stdout: "No driver\n", Exit: 9}}, "(exit code 9: No driver)"},
		{"silent tool", map[string]fake{"nvidia-smi uuids": {}}, "(empty list)"},
		{"chatty tool", map[string]fake{"nvidia-smi uuids": {Stdout: "0, ../../etc\n0; GPU-1111\n"}}, "(0; GPU-1111)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := job{Dir: t.TempDir(), Devices: nvidia("0")}.options()
			o.Worker = install(t, test.tools)
			lease, err := device.Acquire(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			defer lease.Release()
			checkWarnings(t, lease.Warnings, []string{test.want})
		})
	}
}

func TestLeaseFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "")
	for _, test := range []struct{ dir, want string }{
		{"", "no folder for lease files: name one"},
		{filepath.Join(dir, "file"), "it is not a folder: choose one"},
		{filepath.Join(dir, "missing", "leases"), "choose one that can be made"},
	} {
		if _, err := now(t, test.dir, nvidia("0")); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want %q", test.dir, err, test.want)
		}
	}
}

// BenchmarkAcquire compares a lease of one device with a bare lock of a file.
func BenchmarkAcquire(b *testing.B) {
	b.Run("lease", func(b *testing.B) {
		o := job{Dir: b.TempDir(), Name: "bench", Devices: nvidia("0")}.options()
		for b.Loop() {
			lease, err := device.Acquire(b.Context(), o)
			if err != nil {
				b.Fatal(err)
			}
			lease.Release()
		}
	})
	b.Run("bare lock", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "lock")
		for b.Loop() {
			lock := flock.New(path)
			if ok, err := lock.TryLock(); !ok || err != nil {
				b.Fatal(ok, err)
			}
			lock.Close()
		}
	})
}
