package device_test

import (
	"context"
	"errors"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/worker"
)

func TestBusy(t *testing.T) {
	t.Parallel()
	uuids := fake{Stdout: lines("0, GPU-11aaaaaa-0000", "1, GPU-22bbbbbb-0000")}
	processes := func(l ...string) map[string]fake {
		return map[string]fake{"nvidia-smi uuids": uuids, "nvidia-smi processes": {Stdout: lines(l...)}}
	}
	tests := []struct {
		name    string
		tools   map[string]fake
		devices []bench.Device
		want    []string // parts of the warnings
	}{
		{name: "no tool", devices: nvidia("0")},
		{name: "no process", tools: map[string]fake{"nvidia-smi processes": {}}, devices: nvidia("0")},
		{
			name: "one", tools: processes("4242, 3072, GPU-11aaaaaa-0000"), devices: nvidia("0", "1"),
			want: []string{"another process uses nvidia:0 (pid 4242, 3 GiB): its numbers are doubtful: stop it, or wait until it ends"},
		},
		{
			name: "on another device", tools: processes("4242, 3072, GPU-11aaaaaa-0000"), devices: nvidia("1"),
		},
		{
			name: "by UUID", tools: processes("4242, 300, GPU-22bbbbbb-0000"), devices: nvidia("GPU-22b"),
			want: []string{"nvidia:GPU-22b (pid 4242, 300 MiB)"},
		},
		{
			name: "several, memory unknown",
			tools: processes("1, [N/A], GPU-11aaaaaa-0000", "2, 5, GPU-11aaaaaa-0000", "3, 5000, GPU-11aaaaaa-0000",
				"4, 5, GPU-11aaaaaa-0000"),
			devices: nvidia("0"),
			want:    []string{"4 other processes use nvidia:0 (pid 1; pid 2, 5 MiB; pid 3, 5 GiB; ...): its numbers are doubtful: stop them"},
		},
		{
			name: "whole host", tools: processes("1, 5, GPU-22bbbbbb-0000", "2, 5, GPU-11aaaaaa-0000"),
			want: []string{"nvidia:0 (pid 2", "nvidia:1 (pid 1"},
		},
		{
			name: "junk", tools: processes("pid, memory, uuid", "0, 5, GPU-11aaaaaa-0000", "-1, 5, GPU-11aaaaaa-0000", "7, 5", "7",
				"7, NaN, GPU-11aaaaaa-0000"), devices: nvidia("0"),
			want: []string{"(pid 7)"},
		},
		{name: "other vendors are not asked", tools: processes("1, 5, GPU-11aaaaaa-0000"), devices: []bench.Device{{Vendor: "amd", ID: "0"}}},
		{name: "MIG", tools: processes("1, 5, GPU-11aaaaaa-0000"), devices: nvidia("MIG-11")},
		{
			name: "failing tool", devices: nvidia("0"),
			tools: map[string]fake{"nvidia-smi processes": {Stdout: "No driver\n", Exit: 9}},
			want:  []string{"does not report whether other processes use the devices (exit code 9: No driver): run nvidia-smi and check"},
		},
		{
			name: "tool that fails later", devices: nvidia("0"),
			tools: map[string]fake{"nvidia-smi uuids": {Exit: 9}, "nvidia-smi processes": {Stdout: "1, 5, GPU-11aaaaaa-0000\n"}},
			want:  []string{"(exit code 9)"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := device.Busy(t.Context(), install(t, test.tools), test.devices)
			if err != nil {
				t.Fatal(err)
			}
			checkWarnings(t, got, test.want)
		})
	}
}

func TestBusyStopsWithItsContext(t *testing.T) {
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := device.Busy(ctx, new(worker.Isolated), nil); !errors.Is(err, cause) {
		t.Errorf("error %v, want %v", err, cause)
	}
}
