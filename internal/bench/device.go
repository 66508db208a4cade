package bench

import (
	"slices"
	"strings"
)

// Device is one accelerator, or several of one vendor, that a cell can be pinned to. The
// zero value means no device in particular.
type Device struct {
	Vendor string `json:"vendor"` // "nvidia", "amd", "ascend", "intel", "apple", "cpu"
	ID     string `json:"id"`     // as the vendor's variable for visible devices takes it, a list as "0,1"; "" with "apple" and "cpu"
}

// Group is several devices as one. They are of one vendor, and each has an id.
func Group(devices []Device) Device {
	ids := make([]string, len(devices))
	for i, d := range devices {
		ids[i] = d.ID
	}
	return Device{Vendor: devices[0].Vendor, ID: strings.Join(ids, ",")}
}

// Members are the devices of a group, one for a single device, no device for the zero value.
func (d Device) Members() (members []Device) {
	if d == (Device{}) {
		return nil
	}
	for id := range strings.SplitSeq(d.ID, ",") {
		members = append(members, Device{Vendor: d.Vendor, ID: id})
	}
	return members
}

// Overlaps reports whether two groups of devices are equal or have a device in common.
func (d Device) Overlaps(other Device) bool {
	if d == other {
		return true
	}
	members := other.Members()
	return slices.ContainsFunc(d.Members(), func(one Device) bool { return slices.Contains(members, one) })
}

// String returns "nvidia:0", and "" for the zero value.
func (d Device) String() string {
	if d.ID == "" {
		return d.Vendor
	}
	return d.Vendor + ":" + d.ID
}
