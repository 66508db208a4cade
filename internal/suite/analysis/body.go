package analysis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
	"github.com/accelgate/accelgate/internal/tensor"
)

// body is the part of accelgate.yaml that belongs to this kind;
// docs/analysis.md describes it.
type body struct {
	Level    level         `yaml:"level"`
	Times    times         `yaml:"times"`
	Repeats  int           `yaml:"repeats"`
	Packing  *packingBody  `yaml:"packing"`
	Fidelity *fidelityBody `yaml:"fidelity"`
}

// level describes whether the numbers gate.
type level string

// The levels. What cannot be computed at all fails at both. Of times the key
// times decides.
const (
	Off  level = "off"  // for information
	Fail level = "fail" // deterministic numbers must be equal
)

// times describes whether times gate. Those of microseconds vary by more than a
// threshold that code is judged by, so that they do where the user says so.
type times string

const (
	inform times = "inform"
	gated  times = "gate"
)

func (b *body) apply(metrics []bench.Metric) []bench.Metric {
	metrics = slices.Clone(metrics)
	for i := range metrics {
		if time := metrics[i].Unit == "ms"; time && b.Times != gated || !time && b.Level == Off {
			metrics[i].Informational, metrics[i].Exact = true, false
		}
	}
	return metrics
}

type packingBody struct {
	Scenarios  []string    `yaml:"scenarios"` // globs of built-in ones
	Lengths    []lengths   `yaml:"lengths"`
	Algorithms []string    `yaml:"algorithms"`
	Oversize   string      `yaml:"oversize"`
	Cost       costFactors `yaml:"cost"`
	Rounds     int         `yaml:"rounds"` // timed, per measurement
}

// lengths are a problem of the user's own.
type lengths struct {
	File      string `yaml:"file"`
	Name      string `yaml:"name"` // the file's where empty
	Field     string `yaml:"field"`
	MaxTokens int64  `yaml:"max_tokens"`
	Ranks     int    `yaml:"ranks"`
}

// costFactors are those of a*l + b*l^2.
type costFactors struct {
	A float64 `yaml:"a"`
	B float64 `yaml:"b"`
}

type fidelityBody struct {
	Name       string    `yaml:"name"`  // in ids; the model's where empty
	Model      string    `yaml:"model"` // folder, file or id on the hub; "" is generated
	Revision   string    `yaml:"revision"`
	Cache      string    `yaml:"cache"`
	Family     string    `yaml:"family"`
	Patterns   []string  `yaml:"patterns"`
	RankRatio  *float64  `yaml:"rank_ratio"`
	Tolerance  *float64  `yaml:"tolerance"`
	MaxDegrees *float64  `yaml:"max_degrees"`
	Variants   []Variant `yaml:"variants"`
}

// Variant is in which formats factors are computed and stored.
type Variant struct {
	Compute tensor.DType `yaml:"compute" json:"compute"`
	Storage tensor.DType `yaml:"storage" json:"storage"`
}

// Variants are the three levels of error that a decomposition of bfloat16
// weights has in practice.
var Variants = []Variant{{tensor.Float64, tensor.Float64}, {tensor.Float32, tensor.Float32}, {tensor.Float32, tensor.BF16}}

const (
	tagPacking  = "packing"
	tagFidelity = "fidelity"

	maxRepeats = 1000
	maxRounds  = 10_000
)

// defaults is the body before any configuration is decoded over it.
func defaults() body { return body{Level: Off, Times: inform, Repeats: 1} }

func read(c *config.Suite) (*body, error) {
	b := defaults()
	if err := c.Decode(&b); err != nil {
		return nil, err
	}
	if f := b.Fidelity; f != nil && len(f.Variants) == 0 {
		f.Variants = Variants
	}
	return &b, b.check(c)
}

func (b *body) check(c *config.Suite) error {
	switch {
	case b.Level != Off && b.Level != Fail:
		return c.Errorf("level", "unknown level %q: write off, which informs, or fail, which gates", b.Level)
	case b.Times != inform && b.Times != gated:
		return c.Errorf("times", "unknown value %q: write inform, or gate, which judges them as other speeds are", b.Times)
	case b.Repeats < 1 || b.Repeats > maxRepeats:
		return c.Errorf("repeats", "is %d: use 1 to %d", b.Repeats, maxRepeats)
	case b.Packing == nil && b.Fidelity == nil:
		return c.Errorf("", "analyses nothing: add packing: {} or fidelity: {}")
	}
	if b.Packing != nil {
		if err := b.Packing.check(c); err != nil {
			return err
		}
	}
	if b.Fidelity != nil {
		return b.Fidelity.check(c)
	}
	return nil
}

func (b *packingBody) check(c *config.Suite) error {
	b.Oversize = cmp.Or(b.Oversize, string(packing.Legacy))
	if !IsPolicy(b.Oversize) {
		return c.Errorf("packing.oversize", "unknown policy %q: write legacy, own-row, reject or error", b.Oversize)
	}
	if b.Rounds < 0 || b.Rounds > maxRounds {
		return c.Errorf("packing.rounds", "is %d: use 1 to %d", b.Rounds, maxRounds)
	}
	for _, l := range b.Lengths {
		if l.File == "" || l.MaxTokens < 1 || l.Ranks < 1 {
			return c.Errorf("packing.lengths", "needs file, max_tokens and ranks: {file: lengths.json, max_tokens: 130000, ranks: 8}")
		}
	}
	return nil
}

func (b *fidelityBody) check(c *config.Suite) error {
	if strings.TrimSpace(b.Model) != b.Model {
		return c.Errorf("fidelity.model", "%q begins or ends with a space: correct it", b.Model)
	}
	for _, v := range b.Variants {
		if err := b.settings(v, "").Check(); err != nil {
			return c.Errorf("fidelity", "%v", err)
		}
	}
	return nil
}
