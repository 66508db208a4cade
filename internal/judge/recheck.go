package judge

import (
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
)

// Recheck holds the recorded answers of runs of other jobs against the expectations
// of this job's configuration: what measured them may have expected something else,
// or nothing. A cell that passed there and would not have passed here is incorrect.
func Recheck(e *measure.Env, file *config.File, runs []*bench.Run) error {
	for i := range file.Suites {
		s := &file.Suites[i]
		read := e.Kinds[s.Kind].Recheck
		if read == nil {
			continue
		}
		check, err := read(s)
		if err != nil {
			return exit.AsUsage(err)
		}
		for _, run := range runs {
			for j := range run.Results {
				if r := &run.Results[j]; r.Cell.Suite == s.Name && r.Outcome == bench.Passed {
					recheckOne(r, check)
				}
			}
		}
	}
	return nil
}

func recheckOne(r *bench.Result, check func(*bench.Result) (string, error)) {
	unverified, err := check(r)
	if err != nil {
		r.Outcome, r.Cause, r.Reason = bench.Incorrect, bench.CauseAnswer, err.Error()
	} else if unverified != "" {
		r.Warnings = append(r.Warnings, unverified)
	}
}
