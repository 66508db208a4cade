package formats

import (
	"encoding/json"
	"strings"
)

// nvbench reads what a program of nvbench writes with --json FILE. The name of a
// benchmark is "NAME" or "NAME/AXIS=VALUE,AXIS=VALUE". The file of one device is
// expected: accelgate pins a process to one.
func nvbench(out []byte) ([]Benchmark, error) {
	var result struct {
		Benchmarks []struct {
			Name   string          `json:"name"`
			States []*nvbenchState `json:"states"`
		} `json:"benchmarks"`
	}
	if err := harnessJSON(out, &result); err != nil {
		return nil, err
	}
	var all repetitions
	for _, b := range result.Benchmarks {
		for _, s := range b.States {
			if err := s.add(&all, b.Name); err != nil {
				return nil, err
			}
		}
	}
	return all.benchmarks(), nil
}

// nvbenchState is a benchmark at one point of its axes.
type nvbenchState struct {
	Axes []struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"` // a string, or a number
	} `json:"axis_values"`
	Skipped   bool   `json:"is_skipped"`
	Reason    string `json:"skip_reason"`
	Summaries []struct {
		Tag  string `json:"tag"`
		Data []struct {
			Name  string          `json:"name"`
			Value json.RawMessage `json:"value"`
		} `json:"data"`
	} `json:"summaries"`
}

func (s *nvbenchState) add(to *repetitions, name string) error {
	var axes []string
	for _, a := range s.Axes {
		axes = append(axes, a.Name+"="+strings.Trim(string(a.Value), `"`))
	}
	if len(axes) > 0 {
		name += "/" + strings.Join(axes, ",")
	}
	if s.Skipped {
		return to.skip(name, s.Reason)
	}
	var values []Value
	for tag, metric := range map[string]string{"nv/cold/time/gpu/mean": "time_ns", "nv/cold/time/cpu/mean": "cpu_time_ns"} {
		v, ok, err := s.summary(tag)
		if err != nil {
			return unreadable("the times", name, err)
		}
		if ok {
			values = append(values, Value{metric, v * 1e9})
		}
	}
	return to.once(name, values...)
}

// summary is the value of a summary, in seconds.
func (s *nvbenchState) summary(tag string) (v float64, ok bool, err error) {
	for _, one := range s.Summaries {
		if one.Tag != tag {
			continue
		}
		for _, d := range one.Data {
			if d.Name == "value" {
				v, err = finite(strings.Trim(string(d.Value), `"`))
				return v, err == nil, err
			}
		}
	}
	return 0, false, nil
}
