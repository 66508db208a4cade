package device

import (
	"context"
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/worker"
)

const maxShown = 3 // processes in one warning

// Busy warns of processes that use the devices right now, once for each
// device; no devices means all of this host. It asks the tools of vendors that
// report processes, found in the PATH of the worker's children: nvidia-smi, twice.
//
// An error means that the worker cannot go on.
func Busy(ctx context.Context, w worker.Worker, devices []bench.Device) (warnings []string, err error) {
	if w == nil {
		return nil, nil
	}
	for _, v := range vendors {
		ids := v.ids(devices)
		if v.busy == nil || len(ids) == 0 && len(devices) > 0 {
			continue
		}
		more, err := v.busy(ctx, w, ids)
		if err != nil {
			return nil, err
		}
		warnings = append(warnings, more...)
	}
	return warnings, nil
}

// used is the warning about a device and the processes that use it.
func used(d bench.Device, users []string) string {
	who, advice := "another process uses", "stop it, or wait until it ends"
	if len(users) > 1 {
		who, advice = fmt.Sprintf("%d other processes use", len(users)), "stop them, or wait until they end"
	}
	shown := strings.Join(users[:min(len(users), maxShown)], "; ")
	if len(users) > maxShown {
		shown += "; ..."
	}
	return fmt.Sprintf("%s %s (%s): its numbers are doubtful: %s", who, clean(d.String()), shown, advice)
}
