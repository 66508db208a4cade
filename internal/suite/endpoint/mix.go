package endpoint

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
)

// mix is how often each model, or adapter, is asked: shares by name.
type mix map[string]float64

// The limits of a mix, whose names become part of those of metrics.
const (
	maxModels    = 100
	maxModelName = 200 // bytes
	maxWeight    = 1e6
)

// ofModel are the metrics that each model of a mix has for itself.
var ofModel = []string{
	"n_ok", "n_total", "ok_rate", "req_per_s_all", "throughput_tok_per_s", "ttft_p50_ms", "ttft_p95_ms", "tpot_p50_ms",
	"e2e_p50_ms", "e2e_p95_ms", "inputs_per_s", "answer_p50_ms", "cached_token_rate",
}

// modelMark stands between a metric and the model that it is of.
const modelMark = "@"

func (b *body) checkMix(c *config.Suite) error {
	if err := b.Mix.check(); err != nil {
		return c.Errorf("mix", "%v", err)
	}
	return nil
}

func (m mix) check() error {
	if len(m) > maxModels {
		return fmt.Errorf("has %d models: name up to %d", len(m), maxModels)
	}
	for _, name := range m.names() {
		switch w := m[name]; {
		case name == "" || len(name) > maxModelName || strings.ContainsFunc(name, func(r rune) bool {
			return r <= ' ' ||
				r == 0x7f || r == 0xfffd
		}):
			return fmt.Errorf("%.80q is not the name of a model: write it as requests name it, in up to %d bytes without a space", name,
				maxModelName)
		case !(w > 0 && w <= maxWeight):
			return fmt.Errorf("the weight of %s is %v: write a number above 0 and up to %v, such as 3", name, w, float64(maxWeight))
		}
	}
	return nil
}

func (m mix) names() []string { return slices.Sorted(maps.Keys(m)) }

// pick returns the model of request n, which the seed decides, and otherwise if
// there is no mix.
func (m mix) pick(seed int64, n int, otherwise string) string {
	if len(m) == 0 {
		return otherwise
	}
	names, sum := m.names(), 0.0
	for _, name := range names {
		sum += m[name]
	}
	const stream = 0x6d6f64656c73 // "models"
	at := float64(rand.NewPCG(uint64(seed)^stream, uint64(n)).Uint64()>>11) * 0x1p-53 * sum
	for _, name := range names {
		if at -= m[name]; at < 0 {
			return name
		}
	}
	return names[len(names)-1]
}

// metrics describes what each model reports.
func (m mix) metrics() (all []bench.Metric) {
	catalogue := ofRequests()
	for _, model := range m.names() {
		for _, name := range ofModel {
			of := catalogue[slices.IndexFunc(catalogue, func(c bench.Metric) bool { return c.Name == name })]
			of.Name, of.Informational, of.CountedBy, of.MinCount = name+modelMark+model, true, "", 0
			of.Definition += ", of requests to this model"
			all = append(all, of)
		}
	}
	return all
}

// samples are the metrics of each model.
func (m mix) samples(in latency.Input) (all []bench.Sample) {
	everything := in.Observations
	for _, model := range m.names() {
		in.Observations = nil
		for _, o := range everything {
			if o.Model == model {
				in.Observations = append(in.Observations, o)
			}
		}
		for _, s := range latency.Compute(in).Samples {
			if slices.Contains(ofModel, s.Metric) {
				s.Metric += modelMark + model
				all = append(all, s)
			}
		}
	}
	return all
}
