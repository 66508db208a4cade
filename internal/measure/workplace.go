package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/measure/prepare"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/worker"
)

// workplace is where the programs of a configuration are built and started.
type workplace struct {
	*Env
	config  *Config
	worker  worker.Worker
	hold    *prepare.Hold // of the checkout, from when it was built
	isBuilt bool          // the code under test was built, as far as that works
	unbuilt failures
	folder  *folderBase // that --ab names, once it was checked
	void    string      // why nothing that is measured will count
}

func (e *Env) newWorkplace(c *Config) *workplace {
	return &workplace{Env: e, config: c, worker: &worker.Isolated{Environ: c.environ}, folder: c.built.folder, void: c.built.void}
}

func (w *workplace) close() {
	w.worker.Close()
	w.config.store.Release()
	w.hold.Release()
	w.unshield()
}

func (w *workplace) say(line string) { fmt.Fprintln(w.Stderr, "accelgate: "+line) }

// openAll opens all suites, and lists the cells of those that a program lists. What is
// returned with an error must be closed.
func (w *workplace) openAll(ctx context.Context) (all []opened, err error) {
	if w.config.here {
		if err := w.getArtifacts(ctx, w.config.wants); err != nil {
			return nil, err
		}
	}
	env, err := w.suiteEnv()
	if err != nil {
		return nil, err
	}
	for i := range w.config.File.Suites {
		one, err := w.openSuite(ctx, i, env)
		if err != nil {
			return all, err
		}
		all = append(all, one)
	}
	return all, w.list(ctx, all)
}

// openOne opens one suite in another way than its kind does. What is returned with an error must be closed.
func (w *workplace) openOne(ctx context.Context, s *config.Suite, open func(suite.Env) (suite.Suite, error)) ([]opened, error) {
	if err := w.getArtifacts(ctx, func(name string) bool { return name == s.Name }); err != nil {
		return nil, err
	}
	env, err := w.suiteEnv()
	if err != nil {
		return nil, err
	}
	o := opened{of: s, wanted: true}
	if err := o.open(w.config, env, open); err != nil {
		return nil, err
	}
	return []opened{o}, nil
}

// openSuite opens one suite as its kind does.
func (w *workplace) openSuite(ctx context.Context, index int, env suite.Env) (opened, error) {
	s := &w.config.File.Suites[index]
	kind := w.config.kinds[s.Kind]
	o := opened{of: s, wanted: w.config.wants(s.Name)}
	err := o.open(w.config, env, func(env suite.Env) (suite.Suite, error) {
		of, err := kind.Open(s, env)
		if err != nil {
			var again bool
			if again, err = w.lacking(ctx, index, err); again {
				return kind.Open(s, env)
			}
		}
		return of, err
	})
	return o, err
}

// open opens the suite with what the configuration says of its processes.
func (o *opened) open(c *Config, env suite.Env, open func(suite.Env) (suite.Suite, error)) (err error) {
	s := o.of
	if o.wanted {
		env.EngineArgs = c.Options.EngineArgs()
	}
	if o.cpus, err = c.processorsOf(s); err != nil {
		return err
	}
	env.Pin = o.cpus.pin
	if o.suite, err = open(env); err != nil {
		return err
	}
	if o.plan = o.suite.Plan(); o.plan.Address != "" && len(s.CPUs)+len(s.NUMA) > 0 {
		key := "numa"
		if len(s.CPUs) > 0 {
			key = "cpus"
		}
		return errors.Join(s.Errorf(key, "the server runs already: remove cpus and numa, or let accelgate start it by server.command"),
			o.suite.Close())
	}
	return nil
}

// suiteEnv is what suites get from outside.
func (w *workplace) suiteEnv() (suite.Env, error) {
	c := w.config
	executable, err := os.Executable()
	if err != nil {
		return suite.Env{}, fmt.Errorf("find this program: %w", err)
	}
	dir, err := filepath.Abs(c.File.Dir)
	if err != nil {
		return suite.Env{}, fmt.Errorf("find the folder of %s: %w", c.Options.Config, err)
	}
	return suite.Env{Host: c.Host, Worker: w.worker, Environ: c.environ, Executable: executable, Dir: dir, Base: c.isBase,
		ModelDir: c.Options.ModelDir, Hide: Secrets(c.secrets()).Hide, Now: w.Now, Watch: c.gpus,
		Files: c.OutPath(""), Progress: w.showProgress(),
		Downloads: c.downloads(), RawIDs: c.Policy.Compat.Rules().RawIDs}, nil
}

// wants reports whether the host measures a suite, and --suite chose it.
func (c *Config) wants(suite string) bool { return c.Options.Wants(c.File, c.Host.Label, suite) }
