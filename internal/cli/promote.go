package cli

import (
	"fmt"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/cases"
)

// promote records what auto-baseline measured in the suite's folder: the
// numbers of a case that has a file, a new file for one that has none. What did
// not pass is not recorded.
func (c *Command) promote(p *plan, list []compared, run *bench.Run, reason string) error {
	s, err := p.casesSuite()
	if err != nil {
		return err
	}
	folder, err := cases.FolderOf(s, p.file.Dir)
	if err != nil {
		return err
	}
	e := caseEdits{reason: reason, revision: run.Revision, initial: true}
	var passed []measurement
	for _, one := range list {
		if !one.Passed {
			e.left = append(e.left, fmt.Sprintf("%s is not recorded, because it did not pass: mend it first", one.Case))
			continue
		}
		fresh := one.pair.NewCase(filepath.Join(folder.Path, one.Case+".json"))
		passed = append(passed, measurement{name: one.Case, host: p.host.Label, result: one.result, fresh: fresh})
	}
	if err := c.editFolder(&e, folder, passed); err != nil {
		return err
	}
	if err := e.save(); err != nil {
		return err
	}
	return c.tellEdits(&e, false)
}
