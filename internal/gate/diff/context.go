package diff

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// defaultContext: what was asked of the endpoint, and of which model on what
// hardware, must be the same, or the numbers are of two different things; which
// version answered is what a diff is often about. Names are those of a run's context, driver options under their own.
var defaultContext = map[string]gate.Level{
	"suite": gate.Warn, "model": gate.Fail, "engine": gate.Fail, "engine_version": gate.Warn, "quantization": gate.Fail,
	"hardware_fingerprint": gate.Fail,
	"client":               gate.Warn, "duration_s": gate.Warn, "seed": gate.Warn, "nonce_seed": gate.Off, "clocks": gate.Off,
	"schedule_sha256": gate.Warn, cellFact: gate.Warn,

	"suite_version": gate.Fail, "dataset_hash": gate.Fail,
	"mode": gate.Fail, "concurrency": gate.Fail, "rate": gate.Fail, "arrival": gate.Fail, "burstiness": gate.Fail,
	"burst": gate.Fail, "warmup": gate.Fail,
	"api": gate.Fail, "max_tokens": gate.Fail, "ignore_eos": gate.Fail, "temperature": gate.Fail, "stream": gate.Fail,
	"keepalive":    gate.Fail,
	"cache_policy": gate.Fail, "input_len": gate.Fail, "output_len": gate.Fail, "extra": gate.Fail, "rate_end": gate.Fail,
	"rate_curve": gate.Fail, "scale": gate.Fail, "mix": gate.Fail,
	"conversation": gate.Fail, "json_schema": gate.Fail, "files": gate.Fail, "inputs": gate.Fail, "length_unit": gate.Fail,
	"protocol":           gate.Fail,
	bench.StreamedTokens: gate.Fail, "latency_from": gate.Fail, "search": gate.Fail,
}

// cellFact is the name under which a pair of cells with different ids is shown
// that were compared because each is the only one of its side.
const cellFact = "cell"

// DefaultContext returns what a mismatch of a fact means where the policy does
// not say: [gate.Fail] refuses the comparison. A fact that is absent warns. The
// caller owns the map.
func DefaultContext() map[string]gate.Level { return maps.Clone(defaultContext) }

// compareContext compares the facts of both sides by name, those of a document
// and those of its cells together, because an envelope has one place for both:
// the baseline's in
// their order, then what only the candidate has. A fact that both do not know
// matches. One that a single side lacks is a mismatch that at most
// warns, unless the policy itself says more: the values may be equal.
func (p Policy) compareContext(baseline, candidate Document) []ContextMatch {
	var all matchList
	for _, cell := range pairCells(baseline.Cells, candidate.Cells) {
		if cell.old != nil && cell.new != nil && len(cell.old.Context)+len(cell.new.Context) > 0 {
			all.add(p.compareFacts(slices.Concat(baseline.Context, cell.old.Context), slices.Concat(candidate.Context, cell.new.Context)))
		}
	}
	if all.list == nil {
		all.list = p.compareFacts(baseline.Context, candidate.Context)
	}
	matches := all.list
	if c, ok := differentCells(baseline, candidate); ok {
		c.Level = p.level(cellFact, true)
		matches = append(matches, c)
	}
	return matches
}

func (p Policy) compareFacts(baseline, candidate []Fact) (matches []ContextMatch) {
	for _, f := range pairUp(baseline, candidate, func(f *Fact) string { return f.Name }) {
		c := ContextMatch{Name: f.key, Baseline: f.old.value(), Candidate: f.new.value()}
		here, there := f.old.known(), f.new.known()
		c.Match = here == there && (!here || c.Baseline == c.Candidate)
		certain := here && there
		if f.old.missed() || f.new.missed() {
			c.Match, certain = false, true
		}
		if f.key == bench.StreamedTokens { // which is absent where all tokens were streamed
			c.Match, certain = bench.SameCondition(f.key, c.Baseline, c.Candidate), true
		}
		c.Level = p.level(f.key, certain)
		matches = append(matches, c)
	}
	return matches
}

// matchList collects what pairs of cells say of facts: of each, the first
// mismatch is shown, else the first match.
type matchList struct {
	list []ContextMatch
	at   map[string]int
}

// maxMatches bounds the facts that are reported: a document may hold any number.
const maxMatches = 1000

func (l *matchList) add(more []ContextMatch) {
	if l.at == nil {
		l.at = make(map[string]int, len(l.list))
		for i, c := range l.list {
			l.at[c.Name] = i
		}
	}
	for _, c := range more {
		i, known := l.at[c.Name]
		switch {
		case known && l.list[i].Match && !c.Match:
			l.list[i] = c
		case !known && (len(l.list) < maxMatches || !c.Match && c.Level == gate.Fail):
			l.at[c.Name] = len(l.list)
			l.list = append(l.list, c)
		}
	}
}

func (f *Fact) known() bool { return f != nil && !f.Unknown }

// missed reports whether a side had to state the fact and does not.
func (f *Fact) missed() bool { return f != nil && f.Needed && f.Unknown }

func (f *Fact) value() string {
	if f == nil {
		return ""
	}
	return f.Value
}

// level is what a mismatch of a fact means; certain says that both sides know it.
func (p Policy) level(name string, certain bool) gate.Level {
	if level, ok := p.Context[name]; ok {
		return level
	}
	level, ok := defaultContext[name]
	if !ok || level == gate.Fail && (!certain || p.AllowContext) {
		return gate.Warn
	}
	return level
}

func differentCells(baseline, candidate Document) (ContextMatch, bool) {
	if len(baseline.Cells) != 1 || len(candidate.Cells) != 1 {
		return ContextMatch{}, false
	}
	a, b := baseline.Cells[0].ID, candidate.Cells[0].ID
	return ContextMatch{Name: cellFact, Baseline: a, Candidate: b}, a != b && a != "" && b != ""
}

// differ returns which mismatches forbid the comparison, or "".
func differ(context []ContextMatch) string {
	var facts, flags []string
	for _, c := range context {
		if !c.Match && c.Level == gate.Fail {
			facts = append(facts, fmt.Sprintf("%.40s (%s, %s)", c.Name, shown(c.Baseline), shown(c.Candidate)))
			flags = append(flags, fmt.Sprintf("--context %.40s=%s", c.Name, gate.Warn))
		}
	}
	if facts == nil {
		return ""
	}
	return fmt.Sprintf("baseline and candidate were not measured alike, they differ in %s: "+
		"measure both alike, or compare all the same with %s, or with --allow-context", strings.Join(facts, ", "), strings.Join(flags, " "))
}

// shown quotes a value of a stranger's document for a message.
func shown(value string) string {
	if value == "" {
		return "not known"
	}
	return fmt.Sprintf("%.64q", value)
}
