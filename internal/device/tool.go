package device

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

const (
	toolTimeout = 10 * time.Second
	maxOutput   = 1 << 20 // of a tool, in bytes; eight devices need a few KiB
	maxDevices  = 256
	maxText     = 120 // of a name or a note, in runes
)

// inventory is what a vendor's tool says.
type inventory struct {
	devices []bench.Accelerator
	driver  string
	notes   []string // complaints that the tool printed between its answers
	failed  []string // how tools that are installed did not say what there is
}

// tool is a vendor's program that lists devices. Its parser is pure and
// accepts any bytes.
type tool struct {
	args  []string
	parse func(out []byte) (inventory, error)
}

// accelerators asks every vendor that exists on this system. A vendor without
// tools has no devices here.
func accelerators(ctx context.Context, opts Options, cpuModel string) (all inventory, warnings []string, err error) {
	var drivers []string
	for _, v := range vendors {
		if v.builtIn != nil {
			all.devices = append(all.devices, v.builtIn(opts.GOOS, opts.GOARCH, cpuModel)...)
		}
		if opts.Worker == nil || !slices.Contains(v.systems, opts.GOOS) {
			continue
		}
		found, w, err := v.ask(ctx, opts.Worker)
		if err != nil {
			return inventory{}, nil, err
		}
		warnings = append(warnings, w...)
		if v.slices != nil && len(found.devices) > 0 {
			if found.devices, err = v.slices(ctx, opts.Worker, found.devices); err != nil {
				return inventory{}, nil, err
			}
		}
		all.devices = append(all.devices, found.devices...)
		all.failed = append(all.failed, found.failed...)
		if found.driver != "" {
			drivers = append(drivers, found.driver)
		}
	}
	all.driver = strings.Join(drivers, ", ")
	return all, warnings, nil
}

func (v *vendor) ask(ctx context.Context, w worker.Worker) (inventory, []string, error) {
	var warnings, failed []string
	for _, t := range v.tools {
		resp, err := w.Do(ctx, worker.Request{Args: t.args, Timeout: toolTimeout})
		if err != nil {
			return inventory{}, nil, err
		}
		if errors.Is(resp.StartErr, worker.ErrNotFound) {
			continue
		}
		found, trouble := t.read(resp)
		if len(found.devices) > 0 {
			for i := range found.devices {
				found.devices[i].Vendor = v.name
			}
			if trouble != "" {
				trouble = fmt.Sprintf("%s: %s; its devices are listed all the same: run %s to see whether one is missing",
					t.args[0], trouble, t.args[0])
				return found, []string{trouble}, nil
			}
			return found, nil, nil
		}
		none := strings.Contains(strings.ToLower(string(resp.Stdout)+string(resp.Stderr)),
			"no devices were found") // nvidia-smi then exits with 6
		if broken := !none && (!resp.OK() || len(found.notes) == 0 && trouble != emptyList); broken {
			failed = append(failed, fmt.Sprintf("%s is installed and fails (%s)", t.args[0], trouble))
		}
		warnings = append(warnings, fmt.Sprintf(
			"%s is installed but lists no device (%s), so this host counts as one without: run %s and repair the driver, "+
				"or uninstall the tool", t.args[0], trouble, t.args[0]))
	}
	return inventory{failed: failed}, warnings, nil
}

// emptyList is what is wrong with a tool that answers, and lists nothing.
const emptyList = "empty list"

// read returns what the tool lists, and what is wrong with it. A tool that
// fails may still have listed devices: nvidia-smi exits with 14 where a
// device's info ROM is damaged.
func (t tool) read(resp worker.Response) (found inventory, trouble string) {
	found, err := t.parse(resp.Stdout[:min(len(resp.Stdout), maxOutput)])
	if len(found.devices) > maxDevices {
		found, err = inventory{}, fmt.Errorf("lists %d devices", len(found.devices))
	}
	switch {
	case !resp.OK():
		return found, resp.Reason() + lastWords(resp.Log)
	case err != nil:
		return found, err.Error()
	case len(found.notes) > 0:
		return found, strings.Join(found.notes[:min(len(found.notes), 3)], "; ")
	case len(found.devices) == 0:
		return found, emptyList
	}
	return found, ""
}

// lastWords returns the last line of a log, as the end of a sentence.
func lastWords(log string) string {
	if words := clean(text.LastLine(log)); words != "" {
		return ": " + words
	}
	return ""
}

// clean makes foreign text fit for a report.
func clean(s string) string { return text.Line(s, maxText-len("...")) }
