package device

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
)

// Each entry of the table has what an id, a label and a pin of the vendor need, and clashes with no other entry.
func TestVendors(t *testing.T) {
	names, labels, variables := map[string]bool{CPU: true}, map[string]bool{"cpu": true}, map[string]bool{}
	for _, v := range vendors {
		if v.name == "" || names[v.name] || v.label != "" && labels[v.label] || v.pin.variable != "" && variables[v.pin.variable] {
			t.Errorf("vendor %q, label %q, variable %q: empty, or of another vendor", v.name, v.label, v.pin.variable)
		}
		names[v.name], labels[v.label], variables[v.pin.variable] = true, true, true
		example := v.pin.example
		if v.single != "" {
			example = v.name
		}
		host := bench.Host{Fingerprint: bench.Fingerprint{Accelerators: []bench.Accelerator{{Vendor: v.name}}}}
		devices, err := Devices([]string{example}, host, nil)
		if err != nil || devices[0].Vendor != v.name || devices[0].String() != example {
			t.Errorf("%s: example %q yields %v, error %v", v.name, example, devices, err)
			continue
		}
		if pins := strings.Join(Pin(devices[0]), " "); v.single == "" && !strings.Contains(pins, v.pin.variable+"=") {
			t.Errorf("%s: pins are %q, want %s", v.name, pins, v.pin.variable)
		}
		if v.label != "" && !strings.HasSuffix(derive("linux", "amd64", host.Accelerators), "-"+v.label) {
			t.Errorf("%s: no label ends in %q", v.name, v.label)
		}
	}
}
