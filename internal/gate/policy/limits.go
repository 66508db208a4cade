package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/text"
)

// limit is an entry of a suite's limits.
type limit struct {
	gate.Limit
	metric string
	matrix.When
}

// maxWord bounds a word in a message, in runes.
const maxWord = 80

func limitOf(l *config.Limit) limit {
	of := gate.Limit{Change: (*float64)(l.Change), Min: l.Min, Max: l.Max, Test: l.Test}
	if n := l.Noise; n != nil {
		of.Noise = &gate.NoiseLimit{Floor: float64(n.Floor), Ceiling: float64(n.Ceiling)}
	}
	if t := l.Trade; t != nil {
		of.Trade = &gate.Trade{Loss: float64(t.Loss), For: t.For, Gain: float64(t.Gain)}
	}
	return limit{Limit: of, metric: l.Metric, When: matrix.WhenOf(l.When)}
}

// limits returns the limits of single metrics by suite: those of the kind's own list of
// metrics, then those of the suite. They are read wherever a run is judged, and never
// taken from a run.
func (kinds Kinds) limits(file *config.File) (map[string][]limit, error) {
	of := map[string][]limit{}
	for i := range file.Suites {
		s := &file.Suites[i]
		var all []config.Limit
		if read := kinds[s.Kind].Limits; read != nil {
			var err error
			if all, err = read(s); err != nil {
				return nil, err
			}
		}
		for _, l := range all {
			of[s.Name] = append(of[s.Name], limitOf(&l))
		}
		for k := range s.Limits {
			l := limitOf(&s.Limits[k])
			if l.Trade != nil {
				l.Trade.Source = file.Source(fmt.Sprintf("suites[%d].limits[%d]", i, k))
			}
			of[s.Name] = append(of[s.Name], l)
		}
		if len(of[s.Name]) > 0 && file.Policy.Compat != "" {
			return nil, s.Errorf(
				"limits",
				"policy.compat: %s has no limits of single metrics: remove one of the two, or limit in metrics",
				file.Policy.Compat,
			)
		}
	}
	return of, kinds.addShown(of, file)
}

// addShown adds the metrics that a suite only shows and another suite may gate.
func (kinds Kinds) addShown(of map[string][]limit, file *config.File) error {
	if len(file.Suites) < 2 || file.Policy.Compat != "" {
		return nil
	}
	for i := range file.Suites {
		s := &file.Suites[i]
		read := kinds[s.Kind].Shown
		if read == nil {
			continue
		}
		names, err := read(s)
		if err != nil {
			return err
		}
		for _, name := range names {
			of[s.Name] = append(of[s.Name], limit{metric: name, Limit: gate.Limit{Shown: true}})
		}
	}
	return nil
}

// limited returns the limits of a cell on a host, of which the last one wins; nil where
// no suite has any.
func limited(of map[string][]limit) func(bench.Cell, string) map[string]gate.Limit {
	if len(of) == 0 {
		return nil
	}
	return func(c bench.Cell, host string) map[string]gate.Limit {
		var found map[string]gate.Limit
		for _, l := range of[c.Suite] {
			if !l.On(host) || !l.Selects(c) {
				continue
			}
			if found == nil {
				found = map[string]gate.Limit{}
			}
			before := found[l.metric]
			change, noise := before.Change, before.Noise
			if l.Change != nil || l.Noise != nil { // each stands in place of the other
				change, noise = l.Change, l.Noise
			}
			found[l.metric] = gate.Limit{
				Change: change,
				Noise:  noise,
				Min:    cmp.Or(l.Min, before.Min),
				Max:    cmp.Or(l.Max, before.Max),
				Test:   cmp.Or(l.Test, before.Test),
				Trade:  cmp.Or(l.Trade, before.Trade),
				Shown:  l.Shown || before.Shown,
			}
		}
		return found
	}
}

// largest is the largest change that any limit or trade allows, in percent.
func largest(of map[string][]limit) (percent float64) {
	for _, limits := range of {
		for _, l := range limits {
			if l.Change != nil {
				percent = max(percent, *l.Change)
			}
			if l.Noise != nil {
				percent = max(percent, l.Noise.Ceiling)
			}
			if l.Trade != nil {
				percent = max(percent, l.Trade.Loss)
			}
		}
	}
	return percent
}

// checkLimits refuses limits of a suite that nothing in it can meet: a misspelled name
// would limit nothing. Which cells there are may differ from host to host, so entries
// for other hosts are not held against the cells.
func (h onHost) checkLimits(s *config.Suite, metrics []bench.Metric, cells []bench.Cell) error {
	for i := range s.Limits {
		path, l := fmt.Sprintf("limits[%d]", i), limitOf(&s.Limits[i])
		m, err := metricOf(s, path, l.metric, metrics)
		if err != nil {
			return err
		}
		if (l.Change != nil || l.Noise != nil || l.Test != "" || l.Trade != nil) && (m.Exact || m.Informational && !m.Counted) &&
			!m.IsResource() {
			key := ".change"
			switch {
			case l.Change != nil:
			case l.Noise != nil:
				key = ".noise"
			case l.Test != "":
				key = ".test"
			default:
				key = ".trade"
			}
			return s.Errorf(
				path+key,
				"no change of %s is judged, because it is exact or informational: use min and max, or gate the metric",
				m.Name,
			)
		}
		if err := checkTrade(s, path, l.Trade, metrics); err != nil {
			return err
		}
		if err := h.checkSelection(s, path, &l.When, cells); err != nil {
			return err
		}
	}
	return nil
}

// checkTrade refuses a trade for a metric that the suite does not gate: what pays for a loss
// could be lost later without an alarm.
func checkTrade(s *config.Suite, path string, t *gate.Trade, metrics []bench.Metric) error {
	if t == nil {
		return nil
	}
	path += ".trade.for"
	known := func(m bench.Metric) bool { return m.Name == t.For && !m.IsResource() }
	limited := slices.ContainsFunc(s.Limits, func(l config.Limit) bool { return l.Metric == t.For && (l.Change != nil || l.Noise != nil) })
	if bench.Resource(t.For) != nil && !limited && !slices.ContainsFunc(metrics, known) {
		return s.Errorf(
			path,
			"%s is only shown: limit it as well, as in limits: [{metric: %s, change: 10%%}], so that the gain is not lost later",
			t.For,
			t.For,
		)
	}
	m, err := metricOf(s, path, t.For, metrics)
	if err == nil && (m.Exact || m.Informational && !m.Counted && !m.IsResource()) {
		return s.Errorf(
			path,
			"no change of %s is judged, because it is exact or informational: gate the metric, or name another one",
			m.Name,
		)
	}
	return err
}

// metricOf returns the metric that an entry names.
func metricOf(s *config.Suite, path, name string, metrics []bench.Metric) (*bench.Metric, error) {
	i := slices.IndexFunc(metrics, func(m bench.Metric) bool { return m.Name == name })
	if i >= 0 {
		return &metrics[i], nil
	}
	if !strings.HasSuffix(path, ".for") {
		path += ".metric"
	}
	if bench.Resource(name) != nil {
		return nil, s.Errorf(path, "%s is only shown: limit it as well, as in limits: [{metric: %s, change: 10%%}]", name, name)
	}
	names := make([]string, len(metrics))
	for k := range metrics {
		names[k] = metrics[k].Name
	}
	names = append(names, bench.ResourceNames()...)
	return nil, s.Errorf(path, "the suite has no metric %s: %s", text.Quote(name, maxWord), text.Instead(name, names))
}

// checkSelection refuses a selection of names that no cell has, and one of no cell.
func (h onHost) checkSelection(s *config.Suite, path string, of *matrix.When, cells []bench.Cell) error {
	if err := CheckKeys(s, path, of.Cells, []string{matrix.HostKey}, cells); err != nil {
		return err
	}
	if of.On(string(h)) && !slices.ContainsFunc(cells, of.Selects) {
		return s.Errorf(
			path+".when",
			"matches no cell of the suite: correct it, name the hosts that have such cells by host, or remove the entry",
		)
	}
	return nil
}

// CheckKeys refuses names in a key "when" that neither a cell nor the list has. The path is that of the entry.
func CheckKeys(s *config.Suite, path string, when matrix.Match, keys []string, cells []bench.Cell) error {
	for _, c := range cells {
		for _, param := range c.Params {
			if key := strings.TrimPrefix(param.Key, bench.EnvPrefix); !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(when)) {
		if !slices.Contains(keys, key) {
			return s.Errorf(path+".when."+key, "no cell has %s: %s", text.Quote(key, maxWord), text.Instead(key, keys))
		}
	}
	return nil
}
