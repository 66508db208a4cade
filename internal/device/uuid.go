package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/lazyregexp"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

var nvidiaUUIDs = []string{"nvidia-smi", "--query-gpu=index,uuid", "--format=csv,noheader,nounits"}

var gpuUUID = lazyregexp.New(`^GPU-[0-9A-Za-z-]{4,96}$`)

// gpu is an NVIDIA device under both of its names.
type gpu struct{ index, uuid string }

type gpus []gpu

// nvidiaGPUs asks which UUID each index has. Without an answer the list is
// empty and trouble says why.
func nvidiaGPUs(ctx context.Context, w worker.Worker) (found gpus, trouble string, err error) {
	resp, err := w.Do(ctx, worker.Request{Args: nvidiaUUIDs, Timeout: toolTimeout})
	if err != nil {
		return nil, "", err
	}
	if errors.Is(resp.StartErr, worker.ErrNotFound) {
		return nil, "it is not installed", nil
	}
	found = parseUUIDs(resp.Stdout[:min(len(resp.Stdout), maxOutput)])
	if len(found) == 0 {
		trouble = cmp.Or(strings.TrimPrefix(resp.Reason()+lastWords(resp.Log), ": "), "empty list")
	}
	return found, trouble, nil
}

// parseUUIDs reads lines like "0, GPU-8932f937-d72c-4106-c12f-20bd9faed9f6".
// Complaints about a lost device stand between them.
func parseUUIDs(out []byte) gpus {
	var found gpus
	for line := range strings.Lines(string(out)) {
		number, uuid, _ := strings.Cut(line, ",")
		g := gpu{clean(number), clean(uuid)}
		if index.MatchString(g.index) && gpuUUID.MatchString(g.uuid) && len(found) < maxDevices {
			found = append(found, g)
		}
	}
	return found
}

// uuid returns the UUID of the device that an index or an abbreviated UUID
// means, and "" unless it means exactly one.
func (gs gpus) uuid(id string) string {
	var match string
	for _, g := range gs {
		if g.index == id || g.uuid == id {
			return g.uuid
		}
		if strings.HasPrefix(id, "GPU-") && strings.HasPrefix(g.uuid, id) {
			if match != "" {
				return ""
			}
			match = g.uuid
		}
	}
	return match
}

// physical returns a name for each device that is the same however a job
// names the device, as far as can be found out. A MIG device is one of its
// own. An error means that the worker cannot go on, or that an id is wrong.
func physical(ctx context.Context, w worker.Worker, devices []bench.Device) (names, warnings []string, err error) {
	var known gpus
	trouble := "it was not asked"
	if w != nil && slices.ContainsFunc(devices, hasUUID) {
		if known, trouble, err = nvidiaGPUs(ctx, w); err != nil {
			return nil, nil, fmt.Errorf("ask nvidia-smi for UUIDs: %w", err)
		}
	}
	for _, d := range devices {
		name := d.String()
		if hasUUID(d) {
			uuid := known.uuid(d.ID)
			switch {
			case uuid != "":
				name = NVIDIA + ":" + uuid
			case len(known) > 0:
				return nil, nil, fmt.Errorf("device %s is none that nvidia-smi lists, or stands for several: "+
					"choose from what nvidia-smi -L lists", text.Quote(name, 80))
			default:
				warnings = append(warnings, fmt.Sprintf("nvidia-smi does not report the UUID of %s (%s), so only jobs that name it alike "+
					"are kept from it: repair nvidia-smi, or name the device alike in all jobs of this host", text.Quote(name, 80), trouble))
			}
		}
		names = append(names, name)
	}
	return names, warnings, nil
}

// hasUUID reports whether a device has a UUID that nvidia-smi can tell.
func hasUUID(d bench.Device) bool { return d.Vendor == NVIDIA && !strings.HasPrefix(d.ID, "MIG-") }
