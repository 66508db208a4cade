// Package device answers "where was this measured?": the label that names the
// baseline file and the fingerprint that decides whether speeds of two runs
// may be compared. It states facts and judges nothing: what a machine can run
// is for the suites to say, and [bench.Fingerprint.Comparable] compares.
package device

import (
	"cmp"
	"context"
	"fmt"
	"runtime"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/worker"
)

// Options describes how to detect a host. The zero value asks the machine and no
// vendor tools.
type Options struct {
	// Label is the host's name as its owner gave it; empty means to derive it.
	// See [bench.CheckLabel].
	Label string
	// GOOS and GOARCH are those of this program unless given.
	GOOS, GOARCH string
	// Worker runs the vendors' tools, found in the PATH of its children. Nil
	// means that no tool is asked, so that accelerators stay unknown.
	Worker worker.Worker
}

// CPU is what [bench.Device] takes for one more vendor of accelerators.
const CPU = "cpu"

// Detect describes the machine that this process runs on. What cannot be
// found out stays zero and yields a warning, each with a next step. An error
// means that the label is unusable, that there is none and a vendor's tool does
// not say what there is, or that the worker cannot go on, as when ctx is done.
//
// Everything in the result is printable and of bounded size, whatever the
// tools print.
func Detect(ctx context.Context, opts Options) (bench.Host, []string, error) {
	if opts.Label != "" {
		if err := bench.CheckLabel(opts.Label); err != nil {
			return bench.Host{}, nil, err
		}
	}
	opts.GOOS = cmp.Or(opts.GOOS, runtime.GOOS)
	opts.GOARCH = cmp.Or(opts.GOARCH, runtime.GOARCH)
	host := bench.Host{Label: opts.Label}
	var warnings []string
	host.Fingerprint, warnings = machine(ctx, opts)
	found, more, err := accelerators(ctx, opts, host.CPU)
	if err != nil {
		return bench.Host{}, nil, fmt.Errorf("detect the host: %w", err)
	}
	host.Accelerators, host.Driver = found.devices, found.driver
	if err := identify(ctx, opts, &host.Fingerprint); err != nil {
		return bench.Host{}, nil, fmt.Errorf("identify the host: %w", err)
	}
	if host.Label == "" && len(host.Accelerators) == 0 && len(found.failed) > 0 {
		return bench.Host{}, nil, fmt.Errorf(
			"name the host: %s: repair the driver, or give the host a label with --host-label, such as %s-cpu where there is no accelerator",
			found.failed[0], opts.GOOS)
	}
	if host.Label == "" {
		host.Label = derive(opts.GOOS, opts.GOARCH, host.Accelerators)
	}
	return host, append(warnings, more...), nil
}
