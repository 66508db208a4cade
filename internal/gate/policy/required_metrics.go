package policy

import (
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
)

// demanded returns which metrics the suites' configuration demands of a cell. It is
// read wherever a run is judged, and never taken from a run.
func (kinds Kinds) demanded(file *config.File) (func(bench.Cell) []bench.Demand, error) {
	of := make(map[string]func(bench.Cell) []bench.Demand, len(file.Suites))
	for i := range file.Suites {
		s := &file.Suites[i]
		read := kinds[s.Kind].Demand
		if read == nil {
			continue
		}
		demand, err := read(s)
		if err != nil {
			return nil, err
		}
		of[s.Name] = demand
	}
	return func(c bench.Cell) []bench.Demand {
		if demand := of[c.Suite]; demand != nil {
			return demand(c)
		}
		return nil
	}, nil
}
