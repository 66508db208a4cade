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

// maxWord bounds a word in a message, in runes.
const maxWord = 80

// triggerKeys are the keys of "when" beside axes and the host: which runs an entry is for.
var triggerKeys = []string{"event", "profile"}

// scopeOf returns what an entry of limits is about.
func scopeOf(suite string, l *config.Limit) gate.Scope {
	cells := maps.Clone(l.When)
	for _, key := range triggerKeys {
		delete(cells, key)
	}
	of := matrix.WhenOf(cells)
	return gate.Scope{Suite: suite, Metric: l.Metric, Host: of.Host, Cells: of.Cells, Event: l.When["event"], Profile: l.When["profile"]}
}

// limitOf returns the rules that an entry makes. A limit of the kind's own metrics has no source.
func limitOf(suite, source string, l *config.Limit) (rules []gate.Rule) {
	scope, force := scopeOf(suite, l), gate.Force(l.Level)
	if l.Mean != nil {
		rules = append(rules, &gate.Budget{Scope: scope, When: scope.Where(), Source: source, Force: force, Loss: float64(*l.Mean)})
	}
	of := &gate.Limit{Scope: scope, Source: source, Force: force,
		Change: changeOf(l.Change), Min: boundOf(l.Min), Max: boundOf(l.Max), Test: l.Test}
	if t := l.Trade; t != nil {
		of.Trade = &gate.Trade{Loss: float64(t.Loss), For: t.For, Gain: float64(t.Gain), Source: source}
	}
	if of.Change != nil || of.Min != nil || of.Max != nil || of.Test != "" || of.Trade != nil {
		rules = append(rules, of)
	}
	return rules
}

func changeOf(c *config.Change) *gate.Change {
	if c == nil {
		return nil
	}
	of := &gate.Change{Percent: float64(c.Percent), Absolute: c.Absolute, Spread: gate.Spread(c.Spread), Sum: c.Sum, Both: c.Both,
		From: c.From, Text: c.String()}
	if c.Floor > 0 {
		of.Noise = &gate.NoiseLimit{Floor: float64(c.Floor), Ceiling: float64(c.Ceiling)}
	}
	return of
}

func boundOf(b *config.Bound) *gate.Bound {
	if b == nil {
		return nil
	}
	return &gate.Bound{Value: b.Value, Sure: float64(b.Sure) / 100}
}

// limits returns the rules of all suites on single metrics and on means: those of the kind's own list of
// metrics, then those of the suite. They are read wherever a run is judged, and never
// taken from a run.
func (kinds Kinds) limits(file *config.File) (rules []gate.Rule, err error) {
	for i := range file.Suites {
		s := &file.Suites[i]
		before := len(rules)
		if read := kinds[s.Kind].Limits; read != nil {
			own, err := read(s)
			if err != nil {
				return nil, err
			}
			for k := range own {
				rules = append(rules, limitOf(s.Name, "", &own[k])...)
			}
		}
		for k := range s.Limits {
			rules = append(rules, limitOf(s.Name, file.Source(fmt.Sprintf("suites[%d].limits[%d]", i, k)), &s.Limits[k])...)
		}
		if len(rules) > before && !hasEntries(file) {
			return nil, s.Errorf("limits", "policy.compat: %s has no limits of metrics: remove one of the two, or limit in metrics",
				file.Policy.Compat)
		}
	}
	return rules, nil
}

// shown returns the rules for metrics that a suite only shows and another suite may gate.
func (kinds Kinds) shown(file *config.File) (rules []gate.Rule, err error) {
	if len(file.Suites) < 2 || !hasEntries(file) {
		return nil, nil
	}
	for i := range file.Suites {
		s := &file.Suites[i]
		read := kinds[s.Kind].Shown
		if read == nil {
			continue
		}
		names, err := read(s)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			rules = append(rules, &gate.Limit{Scope: gate.Scope{Suite: s.Name, Metric: name}, Shown: true})
		}
	}
	return rules, nil
}

// largest is the largest change that any limit or trade allows, in percent.
func largest(rules []gate.Rule) (percent float64) {
	for _, r := range rules {
		l, ok := r.(*gate.Limit)
		if !ok || l.Force == gate.Advisory {
			continue
		}
		if c := l.Change; c != nil {
			percent = max(percent, c.Percent)
			if c.Noise != nil {
				percent = max(percent, c.Noise.Ceiling)
			}
		}
		if l.Trade != nil {
			percent = max(percent, l.Trade.Loss)
		}
	}
	return percent
}

// checkLimits refuses limits of a suite that nothing in it can meet: a misspelled name
// would limit nothing. Which cells there are may differ from host to host, so entries
// for other hosts are not held against the cells.
func (h onHost) checkLimits(s *config.Suite, metrics []bench.Metric, cells []bench.Cell) error {
	for i := range s.Limits {
		path, l := fmt.Sprintf("limits[%d]", i), &s.Limits[i]
		m, err := metricOf(s, path, l.Metric, metrics)
		if err == nil {
			err = cmp.Or(checkChange(s, path, l, m), checkTrade(s, path, l.Trade, metrics), h.checkTrigger(s, path, l, cells))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkChange refuses a limit of changes that are not judged, and an amount in another unit than the metric's.
func checkChange(s *config.Suite, path string, l *config.Limit, m *bench.Metric) error {
	if l.Mean != nil && m.Exact {
		return s.Errorf(path+".metric", "%s must be equal, so it has no mean that may change: use another metric, or remove the entry", m.Name)
	}
	if (l.Change != nil || l.Test != "" || l.Trade != nil) && (m.Exact || m.Informational && !m.Counted) && !m.IsResource() {
		key := ".trade"
		switch {
		case l.Change != nil:
			key = ".change"
		case l.Test != "":
			key = ".test"
		}
		return s.Errorf(path+key, "no change of %s is judged, because it is exact or informational: use min and max, or gate the metric",
			m.Name)
	}
	if c := l.Change; c != nil && c.Percent >= 100 && m.Better != bench.Lower && m.Quantity() != bench.Score {
		return s.Errorf(path+".change", "%s is better higher, and cannot lose 100%% or more: write a smaller percentage", m.Name)
	}
	if c := l.Change; c != nil && c.Unit != "" && m.Unit != "" && c.Unit != m.Unit {
		return s.Errorf(path+".change", "%s is in %s, and the metric %s in %s: write the number in %s",
			text.Quote(c.String(), maxWord), text.Quote(c.Unit, maxWord), m.Name, m.Unit, m.Unit)
	}
	return nil
}

// checkTrigger refuses an entry of no cell, and one of an event or profile in a suite with an axis of that name.
func (h onHost) checkTrigger(s *config.Suite, path string, l *config.Limit, cells []bench.Cell) error {
	for _, key := range triggerKeys {
		if _, used := l.When[key]; used && CheckKeys(s, path, matrix.Match{key: ""}, nil, cells) == nil {
			return s.Errorf(path+".when."+key, "%s is the %s of the run, and the suite has an axis of that name: rename the axis", key, key)
		}
	}
	scope := scopeOf(s.Name, l)
	return h.checkSelection(s, path, &matrix.When{Host: scope.Host, Cells: scope.Cells}, cells)
}

// checkTrade refuses a trade for a metric that the suite does not gate: what pays for a loss
// could be lost later without an alarm.
func checkTrade(s *config.Suite, path string, t *config.Trade, metrics []bench.Metric) error {
	if t == nil {
		return nil
	}
	path += ".trade.for"
	known := func(m bench.Metric) bool { return m.Name == t.For && !m.IsResource() }
	limited := slices.ContainsFunc(s.Limits, func(l config.Limit) bool { return l.Metric == t.For && l.Change != nil && l.Level != "advisory" })
	if bench.Resource(t.For) != nil && !limited && !slices.ContainsFunc(metrics, known) {
		return s.Errorf(path,
			"%s is only shown: limit it as well, as in limits: [{metric: %s, change: 10%%}], so that the gain is not lost later", t.For,
			t.For)
	}
	m, err := metricOf(s, path, t.For, metrics)
	if err == nil && (m.Exact || m.Informational && !m.Counted && !m.IsResource()) {
		return s.Errorf(path, "no change of %s is judged, because it is exact or informational: gate the metric, or name another one",
			m.Name)
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
		return s.Errorf(path+".when",
			"matches no cell of the suite: correct it, name the hosts that have such cells by host, or remove the entry")
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
