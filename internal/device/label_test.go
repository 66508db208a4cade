package device_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
)

func TestDetectKeepsGivenLabel(t *testing.T) {
	got, _, err := device.Detect(t.Context(), device.Options{Label: "lab-a100.2"})
	if err != nil || got.Label != "lab-a100.2" {
		t.Errorf("label %q, error %v, want the one given", got.Label, err)
	}
	if _, _, err := device.Detect(t.Context(), device.Options{Label: "../etc"}); err == nil {
		t.Error("no error, want the label refused")
	}
}

func TestFromLabel(t *testing.T) {
	nominal := func(goos, goarch, vendor string) *bench.Fingerprint {
		f := &bench.Fingerprint{OS: goos, Arch: goarch}
		if vendor != "" {
			f.Accelerators = []bench.Accelerator{{Vendor: vendor}}
		}
		return f
	}
	tests := []struct {
		label string
		want  *bench.Fingerprint // nil where the label says nothing
	}{
		{"linux-cuda", nominal("linux", "amd64", "nvidia")},
		{"linux-cuda-a100", nominal("linux", "amd64", "nvidia")},
		{"linux-cuda-a100-80g.2", nominal("linux", "amd64", "nvidia")},
		{"windows-cuda", nominal("windows", "amd64", "nvidia")},
		{"linux-rocm", nominal("linux", "amd64", "amd")},
		{"windows-rocm", nominal("windows", "amd64", "amd")},
		{"linux-npu", nominal("linux", "amd64", "ascend")},
		{"linux-xpu", nominal("linux", "amd64", "intel")},
		{"linux-cpu", nominal("linux", "amd64", "")},
		{"macos-mlx", nominal("darwin", "arm64", "apple")},
		{"macos-mlx-m3", nominal("darwin", "arm64", "apple")},
		{"macos-x64", nominal("darwin", "amd64", "")},
		{"macos-cuda", nil},
		{"linux-mlx", nil},
		{"linux-cuda.a100", nil},
		{"linux", nil},
		{"linux-", nil},
		{"-cuda", nil},
		{"", nil},
		{"accelgate-cpu", nil},
		{"lab-linux-cuda", nil},
		{"Linux-CUDA", nil},
		{"linux-cuda-a/../b", nil},
	}
	for _, test := range tests {
		got, ok := device.FromLabel(test.label)
		if ok != (test.want != nil) {
			t.Errorf("%q: ok %v", test.label, ok)
			continue
		}
		want := bench.Host{}
		if ok {
			want = bench.Host{Label: test.label, Fingerprint: *test.want}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.label, diff)
		}
	}
}
