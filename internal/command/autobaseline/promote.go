package autobaseline

import (
	"io"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/command/record"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/suite/cases"
)

// promote records what auto-baseline measured in the suite's folder: the
// numbers of a case that has a file, a new file for one that has none. What did
// not pass is not recorded. The outcome is printed to out.
func promote(env *measure.Env, out io.Writer, p *measure.Plan, list []compared, run *bench.Run, a *Options) error {
	s, err := casesSuite(&p.Config)
	if err != nil {
		return err
	}
	folder, err := cases.FolderOf(s, p.File.Dir)
	if err != nil {
		return err
	}
	e := record.CaseEdits{Reason: a.Reason, Revision: run.Revision, Policy: record.UnlessForced(a.Force, &p.Policy)}
	var passed []record.Measurement
	for _, one := range list {
		if !one.Passed {
			e.Leave("%s is not recorded, because it did not pass: fix it first", one.Case)
			continue
		}
		if folder.Host != "" && folder.Host != p.Host.Label {
			e.Leave("%s is not recorded, because the files hold the times of host %s and this is %s: measure there", one.Case, folder.Host,
				p.Host.Label)
			continue
		}
		fresh := one.pair.NewCase(filepath.Join(folder.Path, one.Case+".json"))
		passed = append(passed, record.Measurement{Name: one.Case, Host: p.Host.Label, Result: one.result, Fresh: fresh})
	}
	if err := record.EditFolder(env, &e, folder, passed); err != nil {
		return err
	}
	if err := e.Save(); err != nil {
		return err
	}
	env.WarnAll(e.Left)
	e.Tell(out, false, string((&judge.Typing{Options: p.Options, File: p.File}).Planned("accelgate run")))
	return nil
}
