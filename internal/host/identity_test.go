package host_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/host"
)

// TestGPUsOfOneModelAreToldApart is about two hosts of one kind, which share the
// derived label.
func TestGPUsOfOneModelAreToldApart(t *testing.T) {
	detect := func(uuids ...string) bench.Host {
		t.Helper()
		h, _, err := host.Detect(t.Context(), host.Options{GOOS: "linux", GOARCH: "amd64", Worker: install(t, map[string]fake{
			"nvidia-smi":       {Stdout: "NVIDIA L4, 23034, 550.54.15\n"},
			"nvidia-smi uuids": {Stdout: lines(uuids...)},
		})})
		if err != nil {
			t.Fatal(err)
		}
		h.Machine = "" // both are this one
		return h
	}
	a, b := detect("0, GPU-8932f937-d72c"), detect("0, GPU-11111111-d72c")
	if a.Label != b.Label || !a.Elsewhere(b.Fingerprint) || a.Elsewhere(detect("0, GPU-8932f937-d72c").Fingerprint) {
		t.Errorf("%+v and %+v are not told apart", a, b)
	}
	if id := a.Accelerators[0].ID; id != bench.Identify("GPU-8932f937-d72c") {
		t.Errorf("the device is identified as %q", id)
	}
	if none := detect(); none.Accelerators[0].ID != "" {
		t.Errorf("without an answer the device is identified as %q", none.Accelerators[0].ID)
	}
}
