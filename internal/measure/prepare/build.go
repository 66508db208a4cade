package prepare

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/worker"
)

// Whole is the name of the build that serves all suites.
const Whole = ""

// Failure says why a build failed.
type Failure struct{ Reason string }

// Build runs the builds of a checkout that are not done, by the names of their suites;
// [Whole] comes first. It returns why some failed, by name. Where [Whole] fails, no other is
// run. The hold keeps other processes from building in the checkout until it is released. It is
// never nil. An error means that ctx was done, or that another process keeps the checkout.
func (c *Checkout) Build(ctx context.Context, builds map[string]*config.Build, wait Waiting) (*Hold, map[string]Failure, error) {
	hold := &Hold{}
	if len(builds) == 0 {
		return hold, nil, nil
	}
	locks, err := c.open()
	if err != nil {
		return hold, nil, err
	}
	hold.locks = locks
	failed := map[string]Failure{}
	for {
		if err := locks.share(ctx, wait); err != nil {
			return hold, nil, err
		}
		if len(failed) > 0 || len(c.due(ctx, builds, locks.done)) == 0 {
			return hold, failed, nil
		}
		switch own, err := locks.own(ctx, wait); {
		case err != nil:
			return hold, nil, err
		case !own:
			continue // another process may have built it meanwhile
		}
		if failed, err = c.buildAll(ctx, builds, locks); err != nil {
			return hold, nil, err
		}
	}
}

// due names the builds whose outputs are not those of the present files. Those that this process
// has just built count as done unless another process has built since.
func (c *Checkout) due(ctx context.Context, builds map[string]*config.Build, done map[string]string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(builds)) {
		key := c.key(ctx, builds[name])
		kept, ok := c.stamp(name)
		switch {
		case ok && done[name] != "" && kept.ID == done[name]:
		case ok && c.fresh(builds[name], kept, key):
		default:
			names = append(names, name)
		}
	}
	return names
}

// buildAll builds what is due. The checkout is locked.
func (c *Checkout) buildAll(ctx context.Context, builds map[string]*config.Build, locks *locks) (map[string]Failure, error) {
	worker.EndStale() // a build of a killed process may still write
	failed := map[string]Failure{}
	for _, name := range c.due(ctx, builds, locks.done) {
		reason, err := c.build(ctx, name, builds[name], locks)
		if err != nil {
			return nil, err
		}
		if reason == "" {
			continue
		}
		failed[name] = Failure{reason}
		if name == Whole {
			break
		}
	}
	return failed, nil
}

// build runs one build and notes what it was made of.
func (c *Checkout) build(ctx context.Context, name string, b *config.Build, locks *locks) (reason string, err error) {
	if err := c.forget(name); err != nil { // a build that is killed has no stamp
		return "", err
	}
	key := c.key(ctx, b)
	c.Say(fmt.Sprintf("building %s: %s", c.What, quoted(b.Command)))
	reason, err = c.run(ctx, &b.Step, logName{log: logOf(name, "build")}, defaultBuildTimeout)
	if err != nil || reason != "" {
		return reason, err
	}
	outputs, err := c.outputs(b)
	if err != nil {
		return fmt.Sprintf("%s: it succeeded, but of its outputs %v", quoted(b.Command), err), nil
	}
	locks.done[name], err = c.note(name, stamp{Key: key, Outputs: outputs})
	return "", err
}

// logOf is the name of a log of a suite, or of all suites where suite is [Whole].
func logOf(suite, step string) string {
	if suite == Whole {
		return step + ".log"
	}
	return filepath.Join("suites", suite, step+".log")
}

// Explain returns which side could not be built, and why.
func (c *Checkout) Explain(f Failure) string { return c.What + " cannot be built by " + f.Reason }
