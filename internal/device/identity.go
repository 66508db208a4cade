package device

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// machineIDFile names a Linux machine and stays as it is over its life; see
// machine-id(5). It is empty in most images of containers.
const machineIDFile = "/etc/machine-id"

var machineID = lazyregexp.New(`^[0-9a-f]{32}$`)

// identify notes what tells this machine from others of its kind, as digests.
// What is not known stays empty: a baseline is then not told from those of other
// machines. An error means that the worker cannot go on.
func identify(ctx context.Context, opts Options, f *bench.Fingerprint) error {
	if opts.GOOS == "linux" && runtime.GOOS == "linux" {
		f.Machine = machineOf(machineIDFile)
	}
	for _, v := range vendors {
		unknown := func(a bench.Accelerator) bool { return a.Vendor == v.name && a.ID == "" }
		if v.digests == nil || opts.Worker == nil || !slices.ContainsFunc(f.Accelerators, unknown) {
			continue
		}
		digests, err := v.digests(ctx, opts.Worker)
		if err != nil {
			return err
		}
		for i := range f.Accelerators {
			if a := &f.Accelerators[i]; a.Vendor == v.name && len(digests) > 0 {
				a.ID, digests = digests[0], digests[1:]
			}
		}
	}
	return nil
}

// machineOf reads the name of a machine from a file; "" if it holds none.
func machineOf(file string) string {
	text, err := os.ReadFile(file)
	if id := strings.TrimSpace(string(text)); err == nil && machineID.MatchString(id) {
		return bench.Identify(id)
	}
	return ""
}
