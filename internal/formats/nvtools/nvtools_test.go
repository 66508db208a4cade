package nvtools_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/formats/nvtools"
)

func file(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestReadNCU(t *testing.T) {
	t.Parallel()
	n, err := nvtools.ReadNCU(file(t, "details.csv"))
	if err != nil || n.Launches != 2 || len(n.Kernels) != 2 || len(n.Errors) != 0 {
		t.Fatalf("%+v, %v", n, err)
	}
	k := n.Kernels[0]
	if k.Name != "scale_kernel(float *, int)" || k.Metrics["Duration"] != (nvtools.Metric{Value: 1234.56, Unit: "nsecond"}) || k.Metrics["Memory Throughput"].Value != 12.5 ||
		len(k.Advice) != 1 || k.Advice[0] != `OPT: This kernel grid is too small, and "fills" 3 % of the device.` {
		t.Errorf("%+v", k)
	}
	if k := n.Kernels[1]; len(k.Metrics) != 1 || k.Metrics["Duration"].Value != 800 {
		t.Errorf("%+v", k)
	}
	raw, err := nvtools.ReadNCU(file(t, "raw.csv"))
	if err != nil || len(raw.Kernels) != 1 || raw.Kernels[0].Metrics["gpu__time_duration.sum"] != (nvtools.Metric{Value: 1234.56, Unit: "nsecond"}) || len(raw.Kernels[0].Metrics) != 2 {
		t.Errorf("%+v, %v", raw, err)
	}
	refused, err := nvtools.ReadNCU([]byte("==PROF== x\n==ERROR== ERR_NVGPUCTRPERM - no permission\n==WARNING== No kernels were profiled.\n"))
	if err != nil || refused.Launches != 0 || len(refused.Errors) != 1 || !strings.HasPrefix(refused.Errors[0], "ERR_NVGPUCTRPERM") {
		t.Errorf("%+v, %v", refused, err)
	}
}

// TestNCUBounds: of many launches the last ones stay, and a damaged table is an error.
func TestNCUBounds(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"` + "\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "\"%d\",\"k\",\"Duration\",\"ns\",\"%d\"\n", i, i)
	}
	n, err := nvtools.ReadNCU([]byte(b.String()))
	if err != nil || n.Launches != 1000 || len(n.Kernels) != 64 || n.Kernels[63].ID != "999" {
		t.Errorf("%d launches, %d kept, %v", n.Launches, len(n.Kernels), err)
	}
	if _, err := nvtools.ReadNCU([]byte(`"ID","x` + "\n")); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Error(err)
	}
	if _, err := nvtools.ReadNCU(make([]byte, nvtools.MaxBytes+1)); err == nil {
		t.Error("a report of any size is read")
	}
}

func TestReadSanitizer(t *testing.T) {
	t.Parallel()
	s, err := nvtools.ReadSanitizer(file(t, "memcheck.txt"))
	if err != nil || s.Errors != 2 || !s.Complete || len(s.Findings) != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	if f := s.Findings[0]; f.Message != "Invalid __global__ write of size 4 bytes" || f.At != "scale_kernel(float *, int)+0x160 in scale.cu:6" || len(f.Details) != 3 {
		t.Errorf("%+v", f)
	}
	for text, want := range map[string]nvtools.Sanitizer{
		"": {}, "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n": {Complete: true},
		"========= ERROR SUMMARY: 1 error\n========= ERROR SUMMARY: 2 errors": {Errors: 3, Complete: true}, "=========     at x": {},
	} {
		if got, err := nvtools.ReadSanitizer([]byte(text)); err != nil || got.Errors != want.Errors || got.Complete != want.Complete || len(got.Findings) != 0 {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	if _, err := nvtools.ReadSanitizer([]byte("========= ERROR SUMMARY: many")); err == nil {
		t.Error("a sum without a number is read")
	}
}

// TestRecordedOnH100 reads what ncu 2025.3 and compute-sanitizer of CUDA 13.0 wrote there: a kernel of torch and one of Triton,
// and writes behind the end of an allocation, of which the file has the first two.
func TestRecordedOnH100(t *testing.T) {
	t.Parallel()
	n, err := nvtools.ReadNCU(file(t, "h100.csv"))
	if err != nil || n.Launches != 2 || len(n.Kernels) != 2 || len(n.Errors) != 0 {
		t.Fatalf("%+v, %v", n, err)
	}
	k := n.Kernels[1]
	if k.Name != "scale" || k.Metrics["Duration"] != (nvtools.Metric{Value: 4896, Unit: "ns"}) || k.Metrics["SM Frequency"].Value != 1967320261.44 ||
		k.Metrics["Achieved Occupancy"] != (nvtools.Metric{Value: 32.3, Unit: "%"}) || len(k.Advice) != 2 {
		t.Errorf("%+v", k)
	}
	s, err := nvtools.ReadSanitizer(file(t, "h100.txt"))
	if err != nil || s.Errors != 141856 || !s.Complete || len(s.Findings) != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	f := s.Findings[0]
	if f.Message != "Invalid __global__ write of size 16 bytes" || f.At != "scale+0x1b0 in once.py:16" || len(f.Details) != 3 || f.Details[0] != "by thread (64,0,0) in block (2576,0,0)" {
		t.Errorf("%+v", f)
	}
}

func FuzzNCU(f *testing.F) {
	f.Add(file(f, "details.csv"))
	f.Add(file(f, "raw.csv"))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := nvtools.ReadNCU(data)
		if _, bad := json.Marshal(n); bad != nil || err == nil && (len(n.Kernels) > 64 || n.Launches < len(n.Kernels)) {
			t.Errorf("%+v: %v, %v", n, err, bad)
		}
	})
}

func FuzzSanitizer(f *testing.F) {
	f.Add(file(f, "memcheck.txt"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := nvtools.ReadSanitizer(data)
		if _, bad := json.Marshal(s); bad != nil || err == nil && (s.Errors < 0 || len(s.Findings) > 10) {
			t.Errorf("%+v: %v, %v", s, err, bad)
		}
	})
}
