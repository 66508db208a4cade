package device_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
)

// TestGPUsOfOneModelAreToldApart is about two hosts of one kind, which share the
// derived label.
func TestGPUsOfOneModelAreToldApart(t *testing.T) {
	detect := func(uuids ...string) bench.Host {
		t.Helper()
		h, _, err := device.Detect(t.Context(), device.Options{GOOS: "linux", GOARCH: "amd64", Worker: install(t, map[string]fake{
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

// TestAMDGPUsOfOneModelHaveNoIdentity: two hosts with AMD devices of one model were
// taken for one host. Both tools tell the same number.
func TestAMDGPUsOfOneModelHaveNoIdentity(t *testing.T) {
	t.Parallel()
	amdSMI := func(serial string) map[string]fake {
		return map[string]fake{"amd-smi": {Stdout: `{"gpu_data": [{"gpu": 0, "asic": {"market_name": "AMD Instinct MI210", "asic_serial": "` + serial + `", "target_graphics_version": "gfx90a"}}]}`}}
	}
	rocmSMI := func(id string) map[string]fake {
		return map[string]fake{"rocm-smi": {Stdout: `{"card0": {"Card Series": "AMD Instinct MI210", "Unique ID": "` + id + `"}, "system": {"Driver version": "6.10.5"}}`}}
	}
	known := bench.Identify("1cc3f11cfdd5112")
	for _, c := range []struct {
		name  string
		tools map[string]fake
		want  string
	}{
		{"amd-smi", amdSMI("0x01CC3F11CFDD5112"), known},
		{"rocm-smi", rocmSMI("0x1cc3f11cfdd5112"), known},
		{"another", amdSMI("0xAF54E92B0A5D57C8"), bench.Identify("af54e92b0a5d57c8")},
		{"zeros", amdSMI("0x0000000000000000"), ""},
		{"not available", rocmSMI("N/A"), ""},
		{"hidden", amdSMI("0xXXXXXXXXXXXXXXXX"), ""},
		{"too long", amdSMI("0x11111111111111111"), ""},
	} {
		h, _, err := device.Detect(t.Context(), device.Options{GOOS: "linux", GOARCH: "amd64", Worker: install(t, c.tools)})
		if err != nil || len(h.Accelerators) != 1 || h.Accelerators[0].ID != c.want {
			t.Errorf("%s: %+v, %v, want the id %q", c.name, h.Accelerators, err, c.want)
		}
	}
}
