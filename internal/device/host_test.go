package device_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/worker"
)

func TestDetectAccelerators(t *testing.T) {
	type devices = []bench.Accelerator
	const mi300 = `{"gpu": 0, "asic": {"market_name": "AMD Instinct MI300X", "target_graphics_version": "gfx942"},
		"vram": {"type": "HBM3", "size": {"value": 196592, "unit": "MB"}}, "driver": {"name": "amdgpu", "version": "6.12.12"}}`
	tests := []struct {
		name         string
		goos, goarch string // linux/amd64 unless given
		tools        map[string]fake
		broken       bool // a tool is there and cannot be asked
		wantLabel    string
		want         devices
		wantDriver   string
		wantWarnings []string // parts of them
	}{
		{name: "no tools", wantLabel: "linux-cpu"},
		{
			name: "two of NVIDIA",
			tools: map[string]fake{"nvidia-smi": {Stdout: lines(
				"NVIDIA H100 80GB HBM3, 81559, 550.54.15", "NVIDIA H100 80GB HBM3, 81559, 550.54.15")}},
			wantLabel:  "linux-cuda",
			want:       devices{gpu("nvidia", "NVIDIA H100 80GB HBM3", 80), gpu("nvidia", "NVIDIA H100 80GB HBM3", 80)},
			wantDriver: "550.54.15",
		},
		{
			name: "NVIDIA on Windows", goos: "windows",
			tools:      map[string]fake{"nvidia-smi": {Stdout: "NVIDIA GeForce RTX 4090, 24564, 560.94\r\n"}},
			wantLabel:  "windows-cuda",
			want:       devices{gpu("nvidia", "NVIDIA GeForce RTX 4090", 24)},
			wantDriver: "560.94",
		},
		{
			name: "memory shared with the system", goarch: "arm64",
			tools:      map[string]fake{"nvidia-smi": {Stdout: "NVIDIA GB10, [N/A], 580.126.09\n"}},
			wantLabel:  "linux-cuda",
			want:       devices{gpu("nvidia", "NVIDIA GB10", 0)},
			wantDriver: "580.126.09",
		},
		{
			name:       "comma in the name, no space after it",
			tools:      map[string]fake{"nvidia-smi": {Stdout: "NVIDIA A, B,4096,550.1\n"}},
			wantLabel:  "linux-cuda",
			want:       devices{gpu("nvidia", "NVIDIA A, B", 4)},
			wantDriver: "550.1",
		},
		{
			name: "one device lost",
			tools: map[string]fake{"nvidia-smi": {Stdout: lines(
				"Unable to determine the device handle for GPU0000:41:00.0: Unknown Error", "NVIDIA L4, 23034, 550.54.15")}},
			wantLabel:    "linux-cuda",
			want:         devices{gpu("nvidia", "NVIDIA L4", 22)},
			wantDriver:   "550.54.15",
			wantWarnings: []string{"nvidia-smi: Unable to determine the device handle for GPU0000:41:00.0: Unknown Error; its devices are listed"},
		},
		{
			name:         "damaged info ROM",
			tools:        map[string]fake{"nvidia-smi": {Stdout: "NVIDIA L4, 23034, 550.54.15\n", Stderr: "infoROM is corrupted\n", Exit: 14}},
			wantLabel:    "linux-cuda",
			want:         devices{gpu("nvidia", "NVIDIA L4", 22)},
			wantDriver:   "550.54.15",
			wantWarnings: []string{"nvidia-smi: exit code 14"},
		},
		{
			name: "driver does not answer", broken: true,
			tools:     map[string]fake{"nvidia-smi": {Stdout: "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n\n", Exit: 9}},
			wantLabel: "linux-cpu",
			wantWarnings: []string{"nvidia-smi is installed but lists no device (exit code 9: NVIDIA-SMI has failed because it couldn't " +
				"communicate with the NVIDIA driver.), so this host counts as one without: run nvidia-smi"},
		},
		{
			name:         "no devices",
			tools:        map[string]fake{"nvidia-smi": {Stdout: "No devices were found\n"}},
			wantLabel:    "linux-cpu",
			wantWarnings: []string{"lists no device (No devices were found)"},
		},
		{
			name:         "silence",
			tools:        map[string]fake{"nvidia-smi": {}},
			wantLabel:    "linux-cpu",
			wantWarnings: []string{"lists no device (empty list)"},
		},
		{
			name:       "AMD, newer form after a warning",
			tools:      map[string]fake{"amd-smi": {Stdout: "[warning] /dev/kfd: Permission denied\n\n" + `{"gpu_data": [` + mi300 + `]}`}},
			wantLabel:  "linux-rocm",
			want:       devices{gpu("amd", "AMD Instinct MI300X", 192)},
			wantDriver: "6.12.12",
		},
		{
			name: "AMD, older form, facts missing",
			tools: map[string]fake{"amd-smi": {Stdout: `[{"asic": "N/A", "vram": "N/A"}, "junk", {"vram": {"size": {"value": 16, "unit": "GB"}}},
				{"asic": {"market_name": "N/A", "target_graphics_version": "gfx1201"}, "driver": {"driver_version": "6.3.6"}}]`}},
			wantLabel:  "linux-rocm",
			want:       devices{gpu("amd", "AMD GPU", 0), gpu("amd", "AMD GPU", 16), gpu("amd", "AMD GPU gfx1201", 0)},
			wantDriver: "6.3.6",
		},
		{
			name: "AMD, old tool only",
			tools: map[string]fake{"rocm-smi": {Stdout: `{"card10": {"Card model": "0x740c", "GFX Version": "gfx90a"},
				"card2": {"Card series": "AMD Instinct MI210", "Card model": "0x740f", "VRAM Total Memory (B)": "68702699520"},
				"cardboard": {}, "system": {"Driver version": "6.7.0"}}`}},
			wantLabel:  "linux-rocm",
			want:       devices{gpu("amd", "AMD Instinct MI210", 64), gpu("amd", "AMD GPU gfx90a", 0)},
			wantDriver: "6.7.0",
		},
		{
			name: "AMD, new tool fails and the old one answers",
			tools: map[string]fake{
				"amd-smi":  {Stdout: "usage: amd-smi [-h]\n", Exit: 2},
				"rocm-smi": {Stdout: `{"card0": {"Card Series": "AMD Radeon RX 7900 XTX", "VRAM Total Memory (B)": "25753026560"}}`},
			},
			wantLabel: "linux-rocm",
			want:      devices{gpu("amd", "AMD Radeon RX 7900 XTX", 24)},
		},
		{
			name: "AMD, both fail", broken: true,
			tools: map[string]fake{
				"amd-smi":  {Stdout: "{}"},
				"rocm-smi": {Stdout: "\n{\"card0\": ", Exit: 0},
			},
			wantLabel: "linux-cpu",
			wantWarnings: []string{
				"amd-smi is installed but lists no device (its output is not the JSON that was asked for)",
				"rocm-smi is installed but lists no device (its output is not the JSON that was asked for)",
			},
		},
		{
			name: "Ascend",
			tools: map[string]fake{"npu-smi": {Stdout: lines(
				"\tNPU ID                         Chip ID                        Chip Logic ID                  Chip Name",
				"\t0                              0                              0                              Ascend 910B3",
				"\t0                              1                              -                              Mcu")}},
			wantLabel: "linux-npu",
			want:      devices{gpu("ascend", "Ascend 910B3", 0)},
		},
		{
			name: "two vendors",
			tools: map[string]fake{
				"nvidia-smi": {Stdout: "NVIDIA L4, 23034, 550.54.15\n"},
				"amd-smi":    {Stdout: "[" + mi300 + "]"},
			},
			wantLabel:  "linux-cuda",
			want:       devices{gpu("nvidia", "NVIDIA L4", 22), gpu("amd", "AMD Instinct MI300X", 192)},
			wantDriver: "550.54.15, 6.12.12",
		},
		{
			name: "hostile text",
			tools: map[string]fake{"nvidia-smi": {Stdout: "GPU\u202e\x1b[31m\t|</details>\x00 " + strings.Repeat("x", 1000) + ", 1e300, 1.0\n" +
				"B, NaN, 1.0\nC, -5, 1.0\nD, 1, \n, 1, 1.0\n"}},
			wantLabel: "linux-cuda",
			want: devices{
				gpu("nvidia", "GPU [31m |</details> "+strings.Repeat("x", 96)+"...", 0), gpu("nvidia", "B", 0), gpu("nvidia", "C", 0),
			},
			wantDriver:   "1.0",
			wantWarnings: []string{"nvidia-smi: D, 1,; , 1, 1.0; its devices"},
		},
		{
			name: "too many devices", broken: true,
			tools:        map[string]fake{"nvidia-smi": {Stdout: strings.Repeat("A, 1, 1.0\n", 257)}},
			wantLabel:    "linux-cpu",
			wantWarnings: []string{"lists 257 devices"},
		},
		{name: "no tools on Windows", goos: "windows", wantLabel: "windows-cpu"},
		{
			name: "AMD's tools are not asked on Windows", goos: "windows",
			tools: map[string]fake{"amd-smi": {Stdout: "[" + mi300 + "]"}}, wantLabel: "windows-cpu",
		},
		{
			name: "Mac with Intel", goos: "darwin",
			tools: map[string]fake{"nvidia-smi": {Stdout: "NVIDIA, 1024, 1.0\n"}}, wantLabel: "macos-x64",
		},
		{name: "elsewhere", goos: "freebsd", wantLabel: "freebsd-cpu"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			opts := device.Options{GOOS: or(test.goos, "linux"), GOARCH: or(test.goarch, "amd64"), Worker: install(t, test.tools)}
			if test.broken { // a machine that cannot say what it has must not be taken for another
				_, _, err := device.Detect(t.Context(), opts)
				if err == nil || !strings.Contains(err.Error(), "give the host a label with --host-label") {
					t.Errorf("without a label: %v, want an error", err)
				}
				opts.Label = test.wantLabel
			}
			got, warnings, err := device.Detect(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			want := bench.Host{Label: test.wantLabel, Fingerprint: bench.Fingerprint{
				OS: opts.GOOS, Arch: opts.GOARCH, Accelerators: test.want, Driver: test.wantDriver,
			}}
			machine := cmpopts.IgnoreFields(bench.Fingerprint{}, "CPU", "Cores", "MemoryGiB", "Machine")
			if diff := cmp.Diff(want, got, machine); diff != "" {
				t.Errorf("host (-want +got):\n%s", diff)
			}
			if err := bench.CheckLabel(got.Label); err != nil {
				t.Errorf("derived label: %v", err)
			}
			checkWarnings(t, warnings, test.wantWarnings)
		})
	}
}

func gpu(vendor, model string, gib float64) bench.Accelerator {
	return bench.Accelerator{Vendor: vendor, Model: model, MemoryGiB: gib}
}

func or(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

func checkWarnings(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("got %d warnings, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
		return
	}
	for i := range got {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("warning %q, want it to contain %q", got[i], want[i])
		}
	}
}

func TestDetectThisMachine(t *testing.T) {
	got, warnings, err := device.Detect(t.Context(), device.Options{Worker: install(t, nil)})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("error %v, warnings %q, want none", err, warnings)
	}
	if got.CPU == "" || got.Cores != runtime.NumCPU() || got.MemoryGiB < 1 || got.MemoryGiB != float64(int(got.MemoryGiB)) {
		t.Errorf("fingerprint %+v, want a CPU, %d cores and whole GiB of memory", got.Fingerprint, runtime.NumCPU())
	}
	if got.OS != runtime.GOOS || got.Arch != runtime.GOARCH {
		t.Errorf("system %s/%s, want %s/%s", got.OS, got.Arch, runtime.GOOS, runtime.GOARCH)
	}
	again, _, err := device.Detect(t.Context(), device.Options{Worker: install(t, nil)})
	if diff := cmp.Diff(got, again); err != nil || diff != "" {
		t.Errorf("a second look differs, error %v (-first +second):\n%s", err, diff)
	}
}

func TestDetectAppleSilicon(t *testing.T) {
	got, _, err := device.Detect(t.Context(), device.Options{GOOS: "darwin", GOARCH: "arm64"})
	if err != nil {
		t.Fatal(err)
	}
	want := []bench.Accelerator{{Vendor: "apple", Model: got.CPU}}
	if diff := cmp.Diff(want, got.Accelerators); diff != "" || got.Label != "macos-mlx" || got.CPU == "" {
		t.Errorf("label %q, CPU %q, accelerators (-want +got):\n%s", got.Label, got.CPU, diff)
	}
}

func TestDetectNamesArmCPU(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads the Linux proc file system")
	}
	tests := []struct {
		name, cpuinfo, want string
		wantWarnings        []string
	}{
		{name: "known part", cpuinfo: "processor: 0\nCPU implementer: 0x41\nCPU part: 0xd0c\n", want: "Neoverse-N1"},
		{name: "unknown part", cpuinfo: "processor: 0\nCPU implementer: 0x41\nCPU part: 0xfff\n", want: "ARM CPU part 0xfff"},
		{name: "known implementer", cpuinfo: "processor: 0\nCPU implementer: 0xc0\nCPU part: 0xac3\n", want: "Ampere CPU part 0xac3"},
		{name: "unknown implementer", cpuinfo: "processor: 0\nCPU implementer: 0x99\nCPU part: 0x001\n", want: "CPU part 0x001"},
		{name: "spaces and controls", cpuinfo: "processor: 0\nmodel name:  Some \t  CPU\u202e @  3GHz \n", want: "Some CPU @ 3GHz"},
		{
			name: "nothing", cpuinfo: "processor: 0\n",
			wantWarnings: []string{"the CPU model is unknown: give this host a label of its own with --host-label"},
		},
		{name: "no file", wantWarnings: []string{"the CPU model is unknown (could not read"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			proc := t.TempDir()
			t.Setenv("HOST_PROC", proc)
			write(t, filepath.Join(proc, "meminfo"), "MemTotal: 16273312 kB\n")
			if test.cpuinfo != "" {
				write(t, filepath.Join(proc, "cpuinfo"), test.cpuinfo)
			}
			got, warnings, err := device.Detect(t.Context(), device.Options{})
			if err != nil || got.CPU != test.want || got.MemoryGiB != 16 {
				t.Errorf("CPU %q, %v GiB, error %v, want %q and 16 GiB", got.CPU, got.MemoryGiB, err, test.want)
			}
			checkWarnings(t, warnings, test.wantWarnings)
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDetectStopsWithItsContext(t *testing.T) {
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, _, err := device.Detect(ctx, device.Options{GOOS: "linux", Worker: new(worker.Isolated)})
	if !errors.Is(err, cause) {
		t.Errorf("error %v, want %v", err, cause)
	}
}
