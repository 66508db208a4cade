package bench

import (
	"crypto/sha256"
	"fmt"
	"slices"
)

// Identify returns a short digest of the identifier of one host or one device, such
// as the UUID of a GPU: it differs between two of a kind and does not show the name.
// "" stays "".
func Identify(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte("accelgate "+name)))[:12]
}

// Elsewhere reports whether both fingerprints name their machine and name
// different ones, though they may be of one kind. A device that both name is
// proof of one machine: a container hides the machine's own name, and a job may
// see some of its devices.
func (f Fingerprint) Elsewhere(ref Fingerprint) bool {
	if f.Machine != "" && f.Machine == ref.Machine {
		return false
	}
	here, there := f.devices(), ref.devices()
	if slices.ContainsFunc(here, func(id string) bool { return slices.Contains(there, id) }) {
		return false
	}
	return f.Machine != "" && ref.Machine != "" || len(here) > 0 && len(there) > 0
}

// Same reports whether both fingerprints are of one machine, and not of different devices
// of it: two runners may share a machine.
func (f Fingerprint) Same(other Fingerprint) bool {
	shared := slices.ContainsFunc(f.devices(), func(id string) bool { return slices.Contains(other.devices(), id) })
	return shared || f.Machine != "" && f.Machine == other.Machine && !f.Replaced(other)
}

// Replaced reports whether both fingerprints are of one machine and name devices, and have no device in common.
func (f Fingerprint) Replaced(ref Fingerprint) bool {
	here, there := f.devices(), ref.devices()
	return f.Machine != "" && f.Machine == ref.Machine && len(here) > 0 && len(there) > 0 &&
		!slices.ContainsFunc(here, func(id string) bool { return slices.Contains(there, id) })
}

// devices are the digests of the accelerators that have one.
func (f Fingerprint) devices() (ids []string) {
	for _, a := range f.Accelerators {
		if a.ID != "" {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// suffix returns the first digits of the identifier of the host, which make a label
// of a kind of hosts one of this host; "" where nothing does.
func (f Fingerprint) suffix() string {
	id := f.Machine
	if ids := f.devices(); len(ids) > 0 {
		id = slices.Min(ids)
	}
	return id[:min(len(id), 4)]
}
