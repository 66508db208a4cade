package judge

import (
	"cmp"
	"errors"
	"io/fs"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/policy"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/waiver"
)

// Accept adds to a policy what lets a loss pass that it would block: the levels of the
// configuration, as of a trigger, and the waivers of its folder, as of today: the file of policy.waivers, which must exist, or waivers.yml, if it
// does, and the quarantined cells of policy.quarantine or quarantine.yml likewise. Recording a baseline does without: what is accepted for a while must
// not become the reference of later runs.
func Accept(e *measure.Env, policy *gate.Policy, file *config.File, o policy.Trigger) (err error) {
	o.Advise(policy, file)
	policy.Today = waiver.DateOf(e.Now())
	policy.Waivers, err = optional(file, file.Policy.Waivers, waiver.FileName,
		func(path string) ([]waiver.Entry, error) { return waiver.Load(path, policy.Today) })
	if err != nil {
		return err
	}
	policy.Quarantine, err = optional(file, file.Policy.Quarantine, waiver.QuarantineName,
		func(path string) ([]waiver.Quarantined, error) { return waiver.LoadQuarantine(path, policy.Today) })
	return err
}

// optional loads the file that a key names, which must exist, or the file of the usual name,
// if it does.
func optional[T any](file *config.File, named, usual string, load func(path string) ([]T, error)) ([]T, error) {
	list, err := load(file.Resolve(cmp.Or(named, usual)))
	switch {
	case err == nil:
		return list, nil
	case named == "" && errors.Is(err, fs.ErrNotExist):
		return nil, nil
	}
	return nil, exit.AsUsage(err)
}
