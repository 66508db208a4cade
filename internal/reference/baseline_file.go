// Package reference chooses what the runs of a host are compared with: a baseline file of this checkout, one of another
// repository or branch, or the last runs of its history. It reads nothing.
package reference

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/reference/baseline"
)

// DefaultFolder is the folder of baselines, beside the configuration. That of a configuration with a name lies inside.
const DefaultFolder = "baselines"

// Baselines are those of a configuration, or the file that the command line names in place of them.
type Baselines struct {
	File  *config.File
	Named string // a file; "" for those of the configuration
}

// FromHistory reports whether the last runs of a host stand in for its baseline file.
func (b Baselines) FromHistory() bool { return b.Named == "" && b.File.Baselines.FromHistory() }

// Remote reports whether the files lie in another repository or branch, or in a store.
func (b Baselines) Remote() bool { return b.Named == "" && b.File.Baselines.Elsewhere() }

// Folder returns the folder of baselines of this checkout.
func (b Baselines) Folder() string {
	return b.File.Resolve(cmp.Or(b.File.Baselines.Path, filepath.Join(DefaultFolder, b.File.Name)))
}

// Label returns the label of the baseline of a host: its own, or the name that hosts with its device share.
func (b Baselines) Label(host bench.Host) string {
	if b.Named != "" {
		return host.Label
	}
	for _, one := range slices.Backward(b.File.Baselines.Devices) {
		if (one.Hosts == "" || matrix.Glob(one.Hosts, host.Label)) && hasDevice(host.Fingerprint, one.Model) {
			return one.Name
		}
	}
	return host.Label
}

// Path returns where the baseline with a label lies or will lie: in this checkout, or with slashes in the repository
// where [Baselines.Remote] is true.
func (b Baselines) Path(label string) string {
	switch {
	case b.Named != "":
		return b.Named
	case b.Remote():
		return path.Join(b.RemoteFolder(), filepath.Base(baseline.Path("", label)))
	}
	return baseline.Path(b.Folder(), label)
}

// PathOf returns where the baseline of a host lies or will lie; see [Baselines.Path].
func (b Baselines) PathOf(host bench.Host) string { return b.Path(b.Label(host)) }

// RemoteFolder returns the folder of the files in the other repository or branch, where [Baselines.Remote] is true.
func (b Baselines) RemoteFolder() string {
	if b.File.Baselines.Stored() {
		return ""
	}
	return cmp.Or(b.File.Baselines.Path, path.Join(DefaultFolder, b.File.Name))
}

// hasDevice reports whether all accelerators of a host, or its CPU where it has none, are of a model.
func hasDevice(f bench.Fingerprint, model string) bool {
	if len(f.Accelerators) == 0 {
		return f.CPU != "" && matrix.Glob(model, f.CPU)
	}
	return !slices.ContainsFunc(f.Accelerators, func(a bench.Accelerator) bool { return !matrix.Glob(model, a.Model) })
}
