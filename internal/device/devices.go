package device

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// Devices returns the devices that a configuration names, in its order: a
// number ("0", as nvidia-smi counts), a UUID of nvidia-smi ("GPU-8932f937"),
// either with its vendor ("nvidia:0"), or "cpu" or "apple", of which there is
// one. Without a vendor it is that of the host's accelerators. On a host with
// MIG slices, a GPU that is divided is refused, and all devices get whole UUIDs.
//
// A number must be below the count of the vendor's detected accelerators.
// Where none was detected, for want of the vendor's tool, or where h is of
// [FromLabel], the configuration counts.
//
// Environ is the environment of this process. Where it holds the vendor's
// variable for visible devices, numbers count within that list, as they do for
// every program of the vendor: under CUDA_VISIBLE_DEVICES=3 "0" is the device
// nvidia:3. A device outside the list is refused.
//
// The error names the entry and ends in what to write in its place.
func Devices(ids []string, h bench.Host, environ []string) ([]bench.Device, error) {
	if len(ids) > maxDevices {
		return nil, fmt.Errorf("%d devices are more than any host has: name at most %d", len(ids), maxDevices)
	}
	var devices []bench.Device
	for _, id := range ids {
		d, err := device(id, h, environ)
		if err != nil {
			return nil, fmt.Errorf("device %s: %w", text.Quote(id, 80), err)
		}
		if slices.Contains(devices, d) {
			return nil, fmt.Errorf("device %s is listed twice, here as %s: remove one of the two", d, text.Quote(id, 80))
		}
		devices = append(devices, d)
	}
	return devices, nil
}

func device(id string, h bench.Host, environ []string) (bench.Device, error) {
	d, err := parseDevice(id, h)
	if err != nil {
		return d, err
	}
	p, ok := pinningOf(d.Vendor)
	if !ok {
		return d, nil
	}
	if d, err = p.resolve(d, h, environ); err != nil {
		return d, err
	}
	if divided(h, d.Vendor) {
		return slotted(d, h)
	}
	return d, checkCount(d, h)
}

func parseDevice(id string, h bench.Host) (bench.Device, error) {
	vendor, rest, written := strings.Cut(id, ":")
	p, known := pinningOf(vendor)
	switch {
	case vendor == CPU || single(vendor):
		return onlyOne(vendor, written, h)
	case written:
	case known:
		return bench.Device{}, fmt.Errorf("it does not state which one: write %s", p.example)
	default:
		var err error
		if vendor, err = vendorOf(id, h); err != nil {
			return bench.Device{}, err
		}
		if rest = id; single(vendor) {
			return onlyOne(vendor, true, h)
		}
		p, known = pinningOf(vendor)
	}
	switch {
	case !known:
		return bench.Device{}, fmt.Errorf("the vendor %s is unknown: write %s or cpu", text.Quote(vendor, 80),
			strings.Join(Vendors(), ", "))
	case !p.id.MatchString(rest):
		return bench.Device{}, fmt.Errorf("it names no %s device: write a number, as in %s", vendor, p.example)
	}
	return bench.Device{Vendor: vendor, ID: rest}, nil
}

// onlyOne returns the device of a vendor that has one in each host.
func onlyOne(vendor string, numbered bool, h bench.Host) (bench.Device, error) {
	if numbered {
		return bench.Device{}, fmt.Errorf("there is one %s device, without a number: write %s", vendor, vendor)
	}
	if n, _ := count(h, vendor); vendor != CPU && n == 0 {
		return bench.Device{}, fmt.Errorf("this host has no %s: write the vendor and number of another device, or cpu",
			vendorNamed(vendor).single)
	}
	return bench.Device{Vendor: vendor}, nil
}

// vendorOf finds the vendor of an id that comes without one.
func vendorOf(id string, h bench.Host) (string, error) {
	numbered := false
	for _, v := range vendors {
		if slices.ContainsFunc(v.prefixes, func(p string) bool { return strings.HasPrefix(id, p) }) {
			return v.name, nil
		}
		numbered = numbered || v.pin.id != nil && v.pin.id.MatchString(id)
	}
	if !numbered {
		return "", errors.New("it names no device: write a number, a vendor with a number, as in nvidia:0, or cpu")
	}
	var found []string
	for _, a := range h.Accelerators {
		if !slices.Contains(found, a.Vendor) {
			found = append(found, a.Vendor)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("no accelerator was detected on this host: write its vendor, as in nvidia:%s, or write cpu", id)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("this host has devices of %s: write which is meant, as in %s:%s", strings.Join(found, " and "), found[0], id)
}

// checkCount refuses a number that no detected device has.
func checkCount(d bench.Device, h bench.Host) error {
	whole, _, _ := strings.Cut(d.ID, ".")
	i, err := strconv.Atoi(whole)
	n, exact := count(h, d.Vendor)
	if err != nil || n == 0 || !exact || i < n {
		return nil
	}
	return fmt.Errorf("this host has %s of %s, counted from 0: write a number below %d, "+
		"or see with the vendor's tool whether a device is missing", text.Plural(n, "device"), d.Vendor, n)
}

// count returns how many accelerators of a vendor a host has. The one without
// a model, of FromLabel, stands for any number.
func count(h bench.Host, vendor string) (n int, exact bool) {
	exact = true
	for _, a := range h.Accelerators {
		if a.Vendor == vendor {
			n++
			exact = exact && a.Model != ""
		}
	}
	return n, exact
}

// Leasable returns the accelerators of a host that several jobs could share by mistake, by
// their numbers, or UUIDs where some are divided. One that is the only one in each machine is none: every program uses it.
func Leasable(h bench.Host) (all []bench.Device) {
	next := map[string]int{}
	for _, a := range h.Accelerators {
		if single(a.Vendor) {
			continue
		}
		all = append(all, bench.Device{Vendor: a.Vendor, ID: cmp.Or(a.Slot.UUID, strconv.Itoa(next[a.Vendor]))})
		next[a.Vendor]++
	}
	return all
}

// All returns the accelerators of a host.
func All(h bench.Host) []bench.Device {
	all := Leasable(h)
	for _, v := range vendors {
		if v.single != "" && has(h.Accelerators, v.name) {
			all = append(all, bench.Device{Vendor: v.name})
		}
	}
	return all
}
