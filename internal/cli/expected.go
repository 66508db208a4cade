package cli

import (
	"maps"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/gate"
)

// expected collects what the suites' own files say that cells should measure.
// It is read wherever a run is judged, and never taken from a run.
func expected(file *config.File) (map[string]bench.Expected, error) {
	all := map[string]bench.Expected{}
	for i := range file.Suites {
		s := &file.Suites[i]
		read, ok := expects[s.Kind]
		if !ok {
			continue
		}
		list, err := read(s, file.Dir)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			all[e.Cell] = e
		}
	}
	return all, nil
}

// onHost is the policy for the runs of one host.
func onHost(p gate.Policy, label string) gate.Policy {
	p.Expected = maps.Clone(p.Expected)
	maps.DeleteFunc(p.Expected, func(_ string, e bench.Expected) bool { return e.Host != "" && e.Host != label })
	return p
}
