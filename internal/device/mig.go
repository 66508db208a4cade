package device

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
	"github.com/accelgate/accelgate/internal/worker"
)

// nvidiaList lists GPUs and, below each, its MIG slices. A GPU that is divided is no device
// itself, and a process sees one slice:
// https://docs.nvidia.com/datacenter/tesla/mig-user-guide/mig-device-names.html
var nvidiaList = []string{"nvidia-smi", "-L"}

var (
	listedGPU   = lazyregexp.New(`^GPU ([0-9]{1,3}): .{1,200} \(UUID: (GPU-[0-9A-Za-z-]{4,96})\)$`)
	listedSlice = lazyregexp.New(`^MIG (\S{1,32}) +Device +[0-9]{1,3}: \(UUID: (MIG-[0-9A-Za-z/-]{4,96})\)$`)
	migProfile  = lazyregexp.New(`^([1-9]c\.)?[1-9][0-9]?g\.([1-9][0-9]{0,3})gb([+-][a-z.]{1,16}){0,2}$`)
)

// listed is a GPU of nvidia-smi -L with its slices.
type listed struct {
	index, uuid string
	slices      []bench.Slot
}

// parseList reads lines like "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-8932f937-...)" and, below
// each GPU, "  MIG 1g.10gb     Device  0: (UUID: MIG-5ca1ab1e-...)". Complaints stand between them.
func parseList(out []byte) (gpus []listed) {
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if g := listedGPU.FindStringSubmatch(line); g != nil && len(gpus) < maxDevices {
			gpus = append(gpus, listed{index: g[1], uuid: g[2]})
			continue
		}
		s := listedSlice.FindStringSubmatch(line)
		if s == nil || len(gpus) == 0 || !CheckProfile(s[1]) {
			continue
		}
		if of := &gpus[len(gpus)-1]; len(of.slices) < maxDevices {
			of.slices = append(of.slices, bench.Slot{Index: of.index, UUID: s[2], Parent: of.uuid, Profile: s[1]})
		}
	}
	return gpus
}

// CheckProfile reports whether a text is the name of a MIG profile, such as 1g.10gb, 1c.3g.40gb or
// 1g.10gb+me.
func CheckProfile(profile string) bool { return migProfile.MatchString(profile) }

// nvidiaSlices puts slices in the place of the GPUs that they divide, and identifies all devices.
// Where nvidia-smi does not list the devices that it told of, they stay as they are.
func nvidiaSlices(ctx context.Context, w worker.Worker, found []bench.Accelerator) ([]bench.Accelerator, error) {
	resp, err := w.Do(ctx, worker.Request{Args: nvidiaList, Timeout: toolTimeout})
	if err != nil {
		return nil, err
	}
	return divide(parseList(resp.Stdout[:min(len(resp.Stdout), maxOutput)]), found), nil
}

func divide(gpus []listed, found []bench.Accelerator) []bench.Accelerator {
	if len(gpus) != len(found) {
		return found
	}
	divided := slices.ContainsFunc(gpus, func(g listed) bool { return len(g.slices) > 0 })
	var all []bench.Accelerator
	for i, g := range gpus {
		whole := found[i]
		whole.ID = bench.Identify(g.uuid)
		if divided {
			whole.Slot = bench.Slot{Index: g.index, UUID: g.uuid}
		}
		if len(g.slices) == 0 {
			all = append(all, whole)
		}
		for _, s := range g.slices {
			all = append(all, sliceOf(whole, s))
		}
	}
	if len(all) > maxDevices {
		return found
	}
	return all
}

// sliceOf is a slice as a device: another profile is another model, which is not compared.
func sliceOf(whole bench.Accelerator, s bench.Slot) bench.Accelerator {
	gib, _ := strconv.ParseFloat(migProfile.FindStringSubmatch(s.Profile)[2], 64)
	return bench.Accelerator{
		Vendor:    whole.Vendor,
		Model:     clean(whole.Model + " MIG " + s.Profile),
		MemoryGiB: gib,
		ID:        bench.Identify(s.UUID),
		Slot:      s,
	}
}

// The words that stand for all slices of a host, or for those of one profile, as in mig:1g.10gb.
const (
	migAll = "mig"
	migOf  = "mig:"
)

// Expand replaces the words mig and mig:PROFILE by the UUIDs of the host's slices, of those that
// CUDA_VISIBLE_DEVICES of this process leaves.
func Expand(ids []string, h bench.Host, environ []string) (all []string, err error) {
	for _, id := range ids {
		profile, some := strings.CutPrefix(id, migOf)
		if !some && id != migAll {
			all = append(all, id)
			continue
		}
		found := slicesOf(h, profile, some, environ)
		if len(found) == 0 {
			return nil, fmt.Errorf("device %s: %s", text.Quote(id, 80), noSlice(h))
		}
		all = append(all, found...)
	}
	return all, nil
}

func slicesOf(h bench.Host, profile string, some bool, environ []string) (found []string) {
	value, restricted := worker.LookupEnv(environ, cudaDevices)
	for _, a := range h.Accelerators {
		if a.Slot.Profile == "" || some && a.Slot.Profile != profile {
			continue
		}
		d := bench.Device{Vendor: NVIDIA, ID: a.Slot.UUID}
		if !restricted || nvidia.pin.checkListed(d, nvidia.pin.visible(value), value) == nil {
			found = append(found, a.Slot.UUID)
		}
	}
	return found
}

func noSlice(h bench.Host) string {
	profiles := Profiles(h)
	if len(profiles) == 0 {
		return "this host has no MIG slices: name other devices, or make slices with nvidia-smi mig -cgi"
	}
	return "this process may use no such slice, and the host has slices of " + strings.Join(profiles, ", ") + ": name one of these"
}

// Profiles are those of the host's slices, sorted, each once.
func Profiles(h bench.Host) (profiles []string) {
	for _, a := range h.Accelerators {
		if p := a.Slot.Profile; p != "" && !slices.Contains(profiles, p) {
			profiles = append(profiles, p)
		}
	}
	slices.Sort(profiles)
	return profiles
}

// Profile is that of a slice, and "" for every other device.
func Profile(d bench.Device, h bench.Host) string { return slotOf(d, h).Profile }

// slotOf is how a device is named on a host with slices; the zero value elsewhere.
func slotOf(d bench.Device, h bench.Host) bench.Slot {
	for _, a := range h.Accelerators {
		if a.Vendor == d.Vendor && a.Slot.UUID == d.ID {
			return a.Slot
		}
	}
	return bench.Slot{}
}

// Parents are the divided devices that slices among the given ones are parts of, each once.
func Parents(devices []bench.Device, h bench.Host) (parents []bench.Device) {
	for _, d := range devices {
		parent := bench.Device{Vendor: d.Vendor, ID: slotOf(d, h).Parent}
		if parent.ID != "" && !slices.Contains(parents, parent) {
			parents = append(parents, parent)
		}
	}
	return parents
}

// slotted finds a device on a host with slices. Numbers and beginnings of UUIDs become whole UUIDs,
// because CUDA numbers the devices of such a host by rules of its own.
func slotted(d bench.Device, h bench.Host) (bench.Device, error) {
	var found []bench.Slot
	parts := 0
	for _, a := range h.Accelerators {
		s := a.Slot
		switch {
		case a.Vendor != d.Vendor || s.UUID == "":
		case s.UUID == d.ID:
			return d, nil
		case strings.HasPrefix(s.UUID, d.ID) || s.Index == d.ID && s.Parent == "":
			found = append(found, s)
		case s.Parent != "" && (s.Index == d.ID || strings.HasPrefix(s.Parent, d.ID)):
			parts++
		}
	}
	switch {
	case parts > 0:
		return d, fmt.Errorf(
			"it is divided into %s, and is not a device itself: write mig for all of them, mig:PROFILE for those of one profile, or a UUID of nvidia-smi -L",
			text.Plural(parts, "MIG slice"))
	case len(found) != 1:
		return d, fmt.Errorf("it stands for %s of this host: choose from what nvidia-smi -L lists", text.Plural(len(found), "device"))
	}
	d.ID = found[0].UUID
	return d, nil
}

// divided reports whether devices of a vendor are divided on a host.
func divided(h bench.Host, vendor string) bool {
	return slices.ContainsFunc(h.Accelerators, func(a bench.Accelerator) bool { return a.Vendor == vendor && a.Slot.UUID != "" })
}
