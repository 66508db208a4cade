package measure

import (
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
)

// BaselineFile is where this host's baseline is or will be, for those who write it. It is an
// error where there is none to write.
func (c *Config) BaselineFile() (string, error) {
	return c.Options.Reference(c.File).PathOf(c.Host), c.Options.Writable(c.File)
}

// Writable refuses to write baseline files where others are compared with.
func (o *HostOptions) Writable(file *config.File) error {
	at := o.Reference(file)
	if at.Remote() && file.Baselines.Stored() {
		return exit.Usagef(
			"%s: the baselines are in the store of baselines.fetch: fetch one, name the file with --baseline, and publish it by the command of baselines.publish",
			o.Config)
	}
	if at.Remote() {
		return exit.Usagef("%s: the baselines are in %s: clone that, name the file with --baseline, and push it", o.Config,
			file.Baselines.In(at.Path("LABEL")))
	}
	if at.FromHistory() {
		return exit.Usagef(
			"%s: baselines.from is history, so there is no baseline file: accept a level with 'accelgate baseline update --reason TEXT', or name a file with --baseline",
			o.Config)
	}
	return nil
}
