package gate

import (
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/matrix"
)

// Rule is an entry of the configuration about cells: a [Limit], a [Budget], a [Fit] or a
// [Level]. Later rules win over earlier ones.
type Rule interface {
	// Applies reports whether the rule is for a metric of a cell on the host with a label. A rule
	// without a metric is for every metric.
	Applies(c bench.Cell, metric, host string) bool
	// counts reports whether the rule is for this host, on the occasion of the policy.
	counts(p *Policy, host string) bool
}

// Scope selects the cells, metric, hosts and occasions of a rule. An empty field selects all.
type Scope struct {
	Suite   string       `json:"suite,omitempty"`
	Metric  string       `json:"metric"`
	Host    string       `json:"-"` // glob of labels
	Event   string       `json:"-"`
	Profile string       `json:"-"`
	Cells   matrix.Match `json:"-"`
	// Selects selects among the cells of the other fields; nil selects all of them.
	Selects func(bench.Cell) bool `json:"-"`
}

// Applies implements [Rule].
func (s *Scope) Applies(c bench.Cell, metric, host string) bool {
	return (s.Metric == "" || s.Metric == metric) && s.on(host) && s.selects(c)
}

func (s *Scope) selects(c bench.Cell) bool {
	return (s.Suite == "" || s.Suite == c.Suite) && (len(s.Cells) == 0 || s.Cells.Selects(c)) && (s.Selects == nil || s.Selects(c))
}

func (s *Scope) on(host string) bool { return s.Host == "" || matrix.Glob(s.Host, host) }

func (s *Scope) counts(p *Policy, host string) bool {
	return s.on(host) && (s.Event == "" || s.Event == p.Event) && (s.Profile == "" || s.Profile == p.Profile)
}

// Where writes the cells and hosts for people: "backend: cuda*, host: h100-*"; "" is all.
func (s *Scope) Where() string { return matrix.When{Host: s.Host, Cells: s.Cells}.String() }

// same reports whether both select the same cells on the same occasions.
func (s *Scope) same(o *Scope) bool {
	return s.Event == o.Event && s.Profile == o.Profile && s.Where() == o.Where()
}

// rulesOf returns the rules of one sort that count on a host.
func rulesOf[T Rule](p *Policy, host string) (list []T) {
	if !p.Compat.Rules().Entries {
		return nil
	}
	for _, r := range p.Rules {
		if one, ok := r.(T); ok && one.counts(p, host) {
			list = append(list, one)
		}
	}
	return list
}
