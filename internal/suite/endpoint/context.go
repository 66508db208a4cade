package endpoint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// conditions are the facts that decide what a server was asked, and how its answers were counted: numbers that were
// measured under different ones are of two different things.
var conditions = []string{
	"suite_version", "dataset_hash", "mode", "concurrency", "rate", "rate_end", "rate_curve", "scale", "arrival", "burstiness", "burst", "warmup",
	"api", "max_tokens", "ignore_eos", "temperature", "stream", "keepalive", "cache_policy", "input_len", "output_len", "extra", "mix",
	"conversation", "json_schema", "files", "inputs", "length_unit", "protocol", "search",
	"latency_from", bench.StreamedTokens, // a time per token is over the tokens that were streamed
}

// context is everything that decides what was measured, by the names that
// envelopes and diffs compare. Two cells with equal contexts sent the same traffic
// to the same server.
func (m *measurement) context(s load.Schedule, out latency.Output, e *meters) map[string]string {
	b, p := m.body, s.Plan()
	c := map[string]string{
		"suite": b.Preset, "suite_version": b.Version,
		"model": m.model, "model_revision": m.said.Revision, "provider": string(m.said.Engine), "endpoint_hash": openai.EndpointHash(m.address()),
		"engine": b.Engine, "engine_version": m.said.Version, "engine_config_hash": m.said.ConfigHash, "quantization": b.Quantization,
		"dataset": m.dataset.ID, "dataset_hash": m.dataset.Hash, "seed": strconv.FormatInt(b.Dataset.Seed, 10),
		"mode": string(p.Mode), "duration_s": seconds(p.Duration.Seconds()), "requests": strconv.Itoa(p.Requests),
		"drain_s": seconds(
			p.Drain.Seconds(),
		), "warmup": fmt.Sprintf(`{"requests":%d,"seconds":%s}`, p.Warmup.Requests, seconds(p.Warmup.Duration.Seconds())),
		"api": b.Request.API, "max_tokens": strconv.Itoa(b.Request.MaxTokens), "ignore_eos": strconv.FormatBool(b.Request.IgnoreEOS),
		"temperature": seconds(b.Request.Temperature), "stream": "true", "keepalive": strconv.FormatBool(b.Request.KeepAlive),
		"cache_policy": string(b.Dataset.Policy), "schedule_sha256": s.Digest(), "token_source": out.TokenSource,
		"slo_template": m.suite.slo.template, "slo_hardware_class": m.suite.slo.hardware, "slo": m.suite.slo.String(),
	}
	c["suite"] = cmp.Or(c["suite"], m.name)
	c["engine"] = cmp.Or(c["engine"], string(m.said.Engine))
	if out.StreamedShare < 1 {
		c[bench.StreamedTokens] = strconv.FormatFloat(out.StreamedShare, 'f', 2, 64)
	}
	if m.nonces != uint64(b.Dataset.Seed) {
		c["nonce_seed"] = strconv.FormatUint(m.nonces, 10)
	}
	c["extra"] = strings.Join(suite.Entries(b.Request.Extra), " ")
	m.addLoad(c, p)
	m.addLengths(c)
	var shares []string
	for _, name := range b.Mix.names() {
		shares = append(shares, name+"="+seconds(b.Mix[name]))
	}
	c["mix"] = strings.Join(shares, " ")
	if m.schema != nil {
		c["json_schema"] = m.schema.Hash
	}
	c["files"] = m.fileHashes()
	if m.dataset.CountsTokens() {
		c["length_unit"] = string(dataset.Tokens)
	}
	if b.Connection.H2C {
		c["protocol"] = "h2c"
	}
	if b.Request.Inputs > 1 {
		c["inputs"] = strconv.Itoa(b.Request.Inputs)
	}
	if !b.Request.generates() {
		delete(c, "max_tokens")
		c["stream"] = "false"
	}
	if b.converses() {
		if text, err := json.Marshal(b.Dataset.Conversation); err == nil {
			c["conversation"] = string(text)
		}
	}
	c["energy_not_measured"] = e.absent
	if e.reading.Measured {
		c["energy_scope"], c["energy_method"] = strings.Join(e.reading.Scope, " "), e.reading.Method
	}
	maps.DeleteFunc(c, func(_, value string) bool { return value == "" })
	return c
}

// address is what identifies the server: a port that was free by chance does
// not.
func (m *measurement) address() string {
	if m.server != nil {
		return "http://127.0.0.1"
	}
	return m.url
}

func (m *measurement) addLoad(c map[string]string, p load.Plan) {
	if p.Concurrency > 0 {
		c["concurrency"] = strconv.Itoa(p.Concurrency)
	}
	if n := m.clients() * max(m.share.Of, 1); n > 1 {
		c["clients"] = strconv.Itoa(n)
	}
	if m.capped() {
		c["latency_from"] = "due"
	}
	if p.Rate > 0 {
		c["rate"] = seconds(p.Rate)
	}
	if p.RateEnd > 0 {
		c["rate_end"], c["rate_curve"] = seconds(p.RateEnd), string(p.Curve)
	}
	if m.point.scale > 0 && m.point.scale != 1 {
		c["scale"] = seconds(m.point.scale)
	}
	switch p.Mode {
	case load.Closed:
		c["ramp"] = seconds(p.Ramp.Seconds())
		if p.AutoRamp {
			c["ramp"] = "one service time"
		}
	case load.Gamma:
		c["arrival"], c["burstiness"] = "gamma", seconds(p.Burstiness)
	case load.Burst:
		c["arrival"], c["burst"] = "burst", strconv.Itoa(p.Burst)
	default:
		c["arrival"] = string(p.Mode)
	}
}

func (m *measurement) addLengths(c map[string]string) {
	for name, lengths := range map[string]any{"input_len": m.body.Dataset.Input, "output_len": m.body.Dataset.Output} {
		if text, err := json.Marshal(lengths); err == nil && string(text) != "{}" {
			c[name] = string(text)
		}
	}
}

func seconds(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func (o objective) String() string {
	var parts []string
	if o.ttft > 0 {
		parts = append(parts, "ttft<="+o.ttft.String())
	}
	if o.tpot > 0 {
		parts = append(parts, "tpot<="+o.tpot.String())
	}
	if o.e2e > 0 {
		parts = append(parts, "e2e<="+o.e2e.String())
	}
	return strings.Join(parts, " ")
}
