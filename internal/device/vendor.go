package device

import (
	"context"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/worker"
)

// vendors are in the order in which they name a host that has devices of several.
var vendors = []*vendor{&nvidia, &amd, &ascend, &intel, &apple}

// vendor is what this package has of a vendor of accelerators. A field that is zero does not apply to the vendor.
type vendor struct {
	name  string   // as [bench.Accelerator] has it
	label string   // the last word of derived labels: "cuda" in "linux-cuda"
	hosts []string // systems of the hosts that such a label stands for

	systems []string                                                     // on which tools are asked
	tools   []tool                                                       // in the order of preference: the first one that lists a device counts
	builtIn func(goos, goarch, cpuModel string) []bench.Accelerator      // devices that need no tool
	digests func(ctx context.Context, w worker.Worker) ([]string, error) // an identifier for each device, where tools do not list it

	// slices puts the slices into which devices are divided in their place. Nil: the vendor has none.
	slices func(ctx context.Context, w worker.Worker, found []bench.Accelerator) ([]bench.Accelerator, error)

	single   string   // what the one device is called that a host has, without a number: "Apple GPU"
	prefixes []string // of ids that no other vendor uses
	pin      pinning

	gres     string // the resource of Slurm that stands for one device
	resource string // that of a device plugin of Kubernetes

	// physical replaces the names of the vendor's devices by those that are the same however a job names a device.
	physical func(ctx context.Context, w worker.Worker, devices []bench.Device, names []string) (warnings []string, err error)
	// buses returns the PCI buses of the vendor's devices, as sysfs names them, by busTools. Nil: no tool reports them.
	buses    func(ctx context.Context, w worker.Worker, devices []bench.Device, h bench.Host) (map[bench.Device]string, error)
	busTools string
	// busy warns of other processes on the devices with these ids, or on all devices without ids.
	busy func(ctx context.Context, w worker.Worker, ids []string) (warnings []string, err error)
}

// vendorNamed returns the vendor with a name, and nil for any other name.
func vendorNamed(name string) *vendor {
	if i := slices.IndexFunc(vendors, func(v *vendor) bool { return v.name == name }); i >= 0 {
		return vendors[i]
	}
	return nil
}

// Vendors are the names of all vendors.
func Vendors() (names []string) {
	for _, v := range vendors {
		names = append(names, v.name)
	}
	return names
}

// single reports whether a host has at most one device of a vendor.
func single(name string) bool {
	v := vendorNamed(name)
	return v != nil && v.single != ""
}

// ids returns the ids of the vendor's devices.
func (v *vendor) ids(devices []bench.Device) (ids []string) {
	for _, d := range devices {
		if d.Vendor == v.name {
			ids = append(ids, d.ID)
		}
	}
	return ids
}
