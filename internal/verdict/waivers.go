package verdict

import (
	"errors"
	"io/fs"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/waiver"
)

// Accept adds to a policy what lets a loss pass that it would block: the levels of the
// configuration, as of an occasion, and the waivers of its folder, as of today: those of policy.waivers, which must exist, or of waivers.yml, if it
// does. Recording a baseline does without: what is accepted for a while must
// not become the reference of later runs.
func Accept(e *measure.Env, policy *gate.Policy, file *config.File, o measure.Occasion) (err error) {
	o.Advise(policy, file)
	name := file.Policy.Waivers
	if name == "" {
		name = waiver.FileName
	}
	policy.Today = waiver.DateOf(e.Now())
	policy.Waivers, err = waiver.Load(file.Resolve(name), policy.Today)
	switch {
	case err == nil:
		return nil
	case file.Policy.Waivers == "" && errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return exit.AsUsage(err)
}
