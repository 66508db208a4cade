package health

import (
	"os"
	"testing"
)

// TestRecordedNVIDIA reads what scripts/gpu.sh recorded of a real GPU where ACCELGATE_GPU_FIXTURES names its folder, and
// else what an H100 printed: each GPU has what the watch on a host's health needs.
func TestRecordedNVIDIA(t *testing.T) {
	folder, log := os.Getenv("ACCELGATE_GPU_FIXTURES"), "all.xml"
	if folder == "" {
		folder = "../testdata/h100"
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	text, err := root.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	gpus, err := parseNVIDIALog(text)
	if err != nil || len(gpus) == 0 {
		t.Fatalf("%d GPUs, %v", len(gpus), err)
	}
	for i, gpu := range gpus {
		for _, name := range []string{"sm clock", "temperature", "memory used"} {
			if value := gpu.shown(name); !(value >= 0) {
				t.Errorf("GPU %d: %s is %v", i, name, value)
			}
		}
		if gpu.bus == "" {
			t.Errorf("GPU %d has no bus id: %+v", i, gpu)
		}
	}
}
