package energy

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/device/watch"
)

const probeTimeout = 20 * time.Second // loading a driver with many GPUs takes long

const nvidiaMethod = "nvidia-smi-power-draw-100ms"

// detectNVIDIA waits until the host's watch has listed all GPUs, and keeps the declared ones.
func detectNVIDIA(ctx context.Context, opts Options, declared []bench.Device) (*Meter, []Absence) {
	reader := opts.Watch.Join(period)
	reader.Await(ctx, probeTimeout, watch.Whole)
	rows := reader.Rows()
	trouble := ""
	if len(rows) == 0 {
		if trouble = reader.Trouble(); trouble == "" {
			trouble = fmt.Sprintf("nvidia-smi did not answer within %v: run it by hand", probeTimeout)
		}
	}
	uuids, absent := choose(rows, declared, trouble)
	if len(absent) > 0 {
		reader.Leave()
		return nil, absent
	}
	return &Meter{scope: uuids, method: nvidiaMethod, sampler: &nvidia{reader, opts.Epoch, uuids}}, nil
}

// choose returns the UUIDs of the declared devices, sorted and each once. If
// one is absent, all are: the energy of a part is not what was asked for.
func choose(rows []watch.Row, declared []bench.Device, trouble string) (uuids []string, absent []Absence) {
	listed := watch.Listed(rows)
	powered := func(g device.GPU) bool {
		return slices.ContainsFunc(rows, func(r watch.Row) bool { return r.GPU == g && r.Value(watch.Power) >= 0 })
	}
	for _, d := range declared {
		i := device.FindGPU(listed, d.ID)
		switch {
		case trouble != "":
			absent = append(absent, Absence{d.String(), trouble})
		case i < 0:
			absent = append(absent, Absence{d.String(), "nvidia-smi lists no such GPU, or several: choose from what nvidia-smi -L lists"})
		case !powered(listed[i]):
			absent = append(absent, Absence{d.String(), "nvidia-smi reports no power for it: run nvidia-smi -q -d POWER " +
				"to see whether the driver or the device is at fault"})
		default:
			uuids = append(uuids, listed[i].UUID)
		}
	}
	for _, d := range declared {
		isIt := func(a Absence) bool { return a.Scope == d.String() }
		if len(absent) > 0 && !slices.ContainsFunc(absent, isIt) {
			absent = append(absent, Absence{d.String(), fmt.Sprintf("%s cannot be measured, and the energy of a part is left out: "+
				"repair it, or declare what works alone", absent[0].Scope)})
		}
	}
	slices.Sort(uuids)
	return slices.Compact(uuids), absent
}

// nvidia samples GPUs by the host's watch.
type nvidia struct {
	reader *watch.Reader
	epoch  time.Time
	uuids  []string
}

// sample implements [sampler].
func (n *nvidia) sample(ctx context.Context) []track {
	<-ctx.Done()
	n.reader.Leave()
	return tracksOf(n.reader.Rows(), n.uuids, n.epoch, n.reader.Trouble())
}

// tracksOf makes a track of each GPU's rows; fault says why they end.
func tracksOf(rows []watch.Row, uuids []string, epoch time.Time, fault string) (tracks []track) {
	for _, uuid := range uuids {
		p := &power{series{scope: uuid, fault: fault, gap: maxGap}}
		for i := range rows {
			if w := rows[i].Value(watch.Power); rows[i].GPU.UUID == uuid && w >= 0 {
				p.add(rows[i].At.Sub(epoch), w)
			}
		}
		tracks = append(tracks, p)
	}
	return tracks
}
