package device

import (
	"math"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/worker"
)

// Whatever a tool prints, what comes of it can be shown, stored and compared.
func FuzzTools(f *testing.F) {
	f.Add([]byte("NVIDIA H100 80GB HBM3, 81559, 550.54.15\nNVIDIA GB10, [N/A], 580.1\nUnknown Error\n"))
	f.Add([]byte(`{"gpu_data": [{"asic": {"market_name": "AMD"}, "vram": {"size": {"value": 1e300, "unit": "MB"}}}]}`))
	f.Add([]byte("warning\n[\n{\n[{}]\n" + `[{"asic": "N/A", "driver": {"version": "6"}}]`))
	f.Add([]byte(`{"card0": {"Card Series": "MI210", "card series": "x", "VRAM Total Memory (B)": "NaN"}, "system": 1}`))
	f.Add([]byte("NPU ID Chip ID Chip Logic ID Chip Name\n0 0 0 Ascend 910B3\n0 1 - Mcu\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		resp := worker.Response{End: worker.Exited, Stdout: out, Log: string(out)}
		for _, v := range vendors {
			for _, tool := range v.tools {
				got, trouble := tool.read(resp)
				checkInventory(t, got, trouble)
				again, _ := tool.read(resp)
				if diff := cmp.Diff(got.devices, again.devices); diff != "" {
					t.Errorf("%s: reading twice differs:\n%s", tool.args[0], diff)
				}
				resp.ExitCode = 1
				_, trouble = tool.read(resp)
				checkText(t, trouble, 3*maxText)
				resp.ExitCode = 0
			}
		}
	})
}

func checkInventory(t *testing.T, got inventory, trouble string) {
	t.Helper()
	if len(got.devices) > maxDevices {
		t.Errorf("lists %d devices", len(got.devices))
	}
	for _, d := range got.devices {
		if d.Model == "" || d.MemoryGiB < 0 || d.MemoryGiB >= 1<<20 || d.MemoryGiB != math.Trunc(d.MemoryGiB) {
			t.Errorf("lists %+v", d)
		}
		checkText(t, d.Model, maxText+len("AMD GPU "))
	}
	checkText(t, got.driver, maxText)
	checkText(t, trouble, 3*maxText+len("; ; "))
}

func checkText(t *testing.T, s string, maxRunes int) {
	t.Helper()
	if n := utf8.RuneCountInString(s); n > maxRunes || !utf8.ValidString(s) {
		t.Errorf("text of %d runes: %q", n, s)
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			t.Errorf("unprintable %U in %q", r, s)
		}
	}
}
