package policy

import (
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/gate"
)

// expected collects what the suites' own files say that cells should measure.
// It is read wherever a run is judged, and never taken from a run.
func (kinds Kinds) expected(file *config.File) (map[string]bench.Expected, error) {
	all := map[string]bench.Expected{}
	for i := range file.Suites {
		s := &file.Suites[i]
		read := kinds[s.Kind].Expect
		if read == nil {
			continue
		}
		list, err := read(s, file.Dir)
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			if _, twice := all[one.Cell]; twice {
				return nil, s.Errorf("cases",
					"the case %s is in an earlier suite, too: names of cases are unique over all suites, so rename one, or keep one suite",
					one.Cell)
			}
			one.Suite = s.Name
			all[one.Cell] = one
		}
	}
	return all, nil
}

// operators collects by suite how their operators are compared.
func (kinds Kinds) operators(file *config.File) map[string]gate.OperatorJudge {
	all := map[string]gate.OperatorJudge{}
	for i := range file.Suites {
		if judge := kinds[file.Suites[i].Kind].Operators; judge != nil {
			all[file.Suites[i].Name] = judge
		}
	}
	return all
}
