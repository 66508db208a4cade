package cli

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/suite/endpoint"
	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
	"github.com/accelgate/accelgate/internal/text"
)

// benchRun is what `bench run` was asked for.
type benchRun struct {
	measure.HostOptions
	measure.MeasureOptions
	measure.DemonstrationOptions
	list, metrics, all, json bool
	changed                  func(flag string) bool

	baseURL, model, engine, quantization, apiKeyEnv string
	concurrency, rates                              string
	sweep, rateSweep                                string
	duration                                        seconds
	requests, maxTokens                             int
	dataset, sloTemplate, sloHardware               string
	seed                                            int64
	gpus                                            []string
	clients                                         int
	shard, startAt, signKey                         string
	signer                                          ed25519.PrivateKey // of signKey
}

func (b *benchRun) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&b.json, "json", false, "print the run, or the list, as JSON")
	f.BoolVar(&b.list, "list", false, "list the suites that ship with accelgate")
	f.BoolVar(&b.metrics, "metrics", false, "list every metric with its definition")
	f.BoolVar(&b.all, "all-benchmarks", false, "run every suite that ships with accelgate and needs no file")
	f.StringVar(&b.baseURL, "base-url", "", "`URL` of the server, such as http://localhost:8000 (default: start the embedded engine)")
	f.StringVar(&b.model, "model", "", "`name` of the model as requests give it (default: the first that the server lists)")
	f.StringVar(&b.engine, "engine", "", "`name` of the engine (default: the server's)")
	f.StringVar(&b.quantization, "quant", "", "`name` of the model's quantisation for the envelope, as in fp16")
	f.StringVar(&b.apiKeyEnv, "api-key-env", "", "`variable` that holds the server's API key")
	f.StringVar(&b.concurrency, "concurrency", "", "requests at once, `n` in place of the suite's loads")
	f.StringVar(&b.sweep, "sweep", "", "`numbers` of requests at once, as in 1,16,64: an envelope for each")
	f.StringVar(&b.rates, "rps", "", "requests a second of an open loop, `r` in place of the suite's loads")
	f.StringVar(&b.rateSweep, "rps-sweep", "", "`rates` of an open loop, as in 0.5,1,2: an envelope for each")
	f.Var(&b.duration, "duration",
		"`time` that each load is measured for, as in 300 or 60s (default: the suite's; 10s for the embedded engine)")
	f.Var((*count)(&b.requests), "requests", "measure `n` requests of each load, in place of a duration")
	f.Var((*count)(&b.maxTokens), "max-tokens", "tokens of each answer, `n` in place of the suite's")
	f.StringVar(&b.dataset, "dataset", "", "`file` of the suite's dataset; JSON lines with prompts in place of built-in ones")
	f.Int64Var(&b.seed, "seed", 0, "`seed` of texts, lengths and arrivals (default: the suite's)")
	f.StringVar(&b.sloTemplate, "slo-template", "", "`name` of the limits that requests are held against: llm.standard or llm.relaxed")
	f.StringVar(&b.sloHardware, "hardware", "", "`class` of hardware for those limits, as in h100 (default: by this host's accelerators)")
	f.StringSliceVar(&b.gpus, "gpus", nil, "`ids` of the NVIDIA GPUs of the server whose energy is measured, as in 0,1")
	f.Var((*count)(&b.clients), "clients", "processes of this host that send each load together, `n` in place of the suite's")
	f.StringVar(&b.shard, "shard", "", "send part `k/n` of the load; other hosts send the rest, see 'accelgate bench merge'")
	f.StringVar(&b.startAt, "start-at", "", "`time` at which all shards begin, as in 2026-01-31T12:00:00Z or seconds since 1970")
	addSignKey(b, f)
	f.StringVar(&b.Out, "out", "results", "`folder` for envelopes, samples and run.json")
	f.StringVar(&b.HostLabel, "host-label", "", "`label` of this host")
	f.Var((*count)(&b.Repeats), "repeats", "measure each load `n` times")
	f.StringVar(&b.Revision, "revision", "", "`commit` of the code under test (default: git's HEAD)")
	f.StringVar(&b.InjectSlowdown, "inject-slowdown", "", "make the embedded engine slower by `PHASE=PERCENT`, as in decode=30%")
}

func addSignKey(b *benchRun, f *pflag.FlagSet) {
	f.StringVar(&b.signKey, "sign-key", "",
		"private `key` to sign run.json and envelopes with: a PEM file, or env:NAME; see 'accelgate sign'")
}

// seconds is a flag that takes a duration, or a number of seconds as
// InferenceBench does.
type seconds time.Duration

func (s *seconds) Set(text string) error {
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n < 1<<31 {
		*s = seconds(time.Duration(n) * time.Second)
		return nil
	}
	return (*period)(s).Set(text)
}

func (s *seconds) String() string { return "" }
func (s *seconds) Type() string   { return "duration" }

// sweeps reports whether several loads were asked for by name.
func (b *benchRun) sweeps() bool { return b.sweep != "" || b.rateSweep != "" }

// configuration makes the configuration that accelgate.yaml would hold.
func (b *benchRun) configuration(args []string) (*config.File, error) {
	bodies, err := b.suites(args)
	if err != nil {
		return nil, err
	}
	for _, body := range bodies {
		if err := b.override(body); err != nil {
			return nil, err
		}
	}
	data, err := json.Marshal(map[string]any{"version": config.Version, "suites": bodies})
	if err != nil {
		return nil, err
	}
	b.Config = "the command line"
	if len(args) > 0 {
		b.Config = args[0] + " with the command line"
	}
	return config.Parse(b.Config, data)
}

// suites names the suite that was asked for, the user's own, or all.
func (b *benchRun) suites(args []string) (bodies []map[string]any, err error) {
	switch {
	case b.all && len(args) > 0:
		return nil, exit.Usagef("--all-benchmarks and %s: leave one of them out", text.OneLine(args[0]))
	case b.all:
		list, err := endpoint.Presets()
		for _, p := range list {
			if !p.NeedsFile {
				bodies = append(bodies, map[string]any{"name": p.ID, "kind": "endpoint", "preset": p.ID})
			}
		}
		return bodies, err
	case len(args) == 0:
		return nil, exit.Usagef("no suite given: list them with 'accelgate bench run --list'")
	}
	if ext := filepath.Ext(args[0]); ext == ".yaml" || ext == ".yml" || ext == ".json" {
		body, err := ownSuite(args[0])
		return []map[string]any{body}, err
	}
	return []map[string]any{{"name": args[0], "kind": "endpoint", "preset": args[0]}}, b.known(args[0])
}

// known refuses the name of a suite that does not exist.
func (b *benchRun) known(name string) error {
	list, err := endpoint.Presets()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list, func(p endpoint.PresetInfo) bool { return p.ID == name }) {
		return exit.Usagef("unknown suite %q: list them with 'accelgate bench run --list', or name a file that ends in .yaml",
			text.OneLine(name))
	}
	return nil
}

// ownSuite reads a user's suite: the body of one of kind endpoint.
func ownSuite(path string) (map[string]any, error) {
	data, err := measure.ReadBounded(path)
	if err != nil {
		return nil, exit.Usagef("read the suite: %w: name a YAML file with the keys of a suite of kind endpoint", err)
	}
	if data, err = config.ToJSON(path, data); err != nil {
		return nil, err
	}
	var body map[string]any
	if err := json.Unmarshal(data, &body); err != nil {
		return nil, exit.Usagef("%s: %w: write the keys of a suite of kind endpoint", path, err)
	}
	if body["name"] == nil {
		name := filepath.Base(path)
		body["name"] = name[:len(name)-len(filepath.Ext(name))]
	}
	if kind, ok := body["kind"]; ok && kind != "endpoint" {
		return nil, exit.Usagef("%s: kind is %v: 'bench run' measures suites of kind endpoint; put others into accelgate.yaml", path, kind)
	}
	body["kind"] = "endpoint"
	return body, nil
}

// override puts the flags over the suite's own keys.
func (b *benchRun) override(body map[string]any) error {
	set := func(value any, path ...string) { setKey(body, value, path) }
	for _, f := range []struct {
		value string
		path  []string
	}{
		{b.baseURL, []string{"base_url"}}, {b.model, []string{"model"}}, {b.engine, []string{"engine"}}, {b.quantization, []string{"quantization"}},
		{b.apiKeyEnv, []string{"api_key_env"}}, {b.sloTemplate, []string{"slo", "template"}}, {b.sloHardware, []string{"slo", "hardware"}},
	} {
		if f.value != "" {
			set(f.value, f.path...)
		}
	}
	if b.baseURL != "" {
		delete(body, "server") // the one that runs is asked
	}
	if b.dataset != "" {
		path, err := filepath.Abs(b.dataset)
		if err != nil {
			return exit.Usagef("--dataset: %w", err)
		}
		set(path, "dataset", "path")
		if kind := b.datasetKind(body); kind == "" || kind == dataset.Builtin {
			set(dataset.JSONL, "dataset", "kind")
			set("", "dataset", "set")
		}
	}
	if len(b.gpus) > 0 {
		set(b.gpus, "gpus")
	}
	if b.changed("seed") {
		set(b.seed, "dataset", "seed")
	}
	if b.maxTokens > 0 {
		set(b.maxTokens, "request", "max_tokens")
	}
	if b.clients > 0 {
		set(b.clients, "load", "clients")
	}
	b.overrideLength(body)
	return b.overrideLoads(body)
}

// datasetKind is what the suite's own dataset is.
func (b *benchRun) datasetKind(body map[string]any) dataset.Kind {
	if own, _ := body["dataset"].(map[string]any); own["kind"] != nil {
		return dataset.Kind(fmt.Sprint(own["kind"]))
	}
	list, _ := endpoint.Presets() // which known has read
	for _, p := range list {
		if p.ID == body["preset"] {
			return p.Dataset
		}
	}
	return ""
}

// embeddedDuration is how long the embedded engine is measured without
// a flag: it is a demonstration.
const embeddedDuration = 10 * time.Second

func (b *benchRun) overrideLength(body map[string]any) {
	switch {
	case b.requests > 0:
		setKey(body, b.requests, []string{"load", "requests"})
		setKey(body, time.Duration(b.duration).String(), []string{"load", "duration"})
	case b.duration > 0:
		setKey(body, time.Duration(b.duration).String(), []string{"load", "duration"})
	case body["base_url"] == nil && body["server"] == nil && body["preset"] != nil && !hasLength(body):
		setKey(body, embeddedDuration.String(), []string{"load", "duration"})
	}
}

// hasLength reports whether a suite says itself how much is measured.
func hasLength(body map[string]any) bool {
	load, _ := body["load"].(map[string]any)
	return load["duration"] != nil || load["requests"] != nil
}

// overrideLoads replaces the suite's loads.
func (b *benchRun) overrideLoads(body map[string]any) error {
	closed, open, err := b.loads()
	switch {
	case err != nil:
		return err
	case len(closed) > 0:
		setKey(body, "closed", []string{"load", "mode"})
		setKey(body, closed, []string{"load", "concurrency"})
		setKey(body, []float64{}, []string{"load", "rate"})
	case len(open) > 0:
		if load, _ := body["load"].(map[string]any); !slices.Contains([]any{"constant", "gamma", "burst"}, load["mode"]) {
			setKey(body, "gamma", []string{"load", "mode"})
		}
		setKey(body, open, []string{"load", "rate"})
		setKey(body, []int{}, []string{"load", "concurrency"})
	}
	return nil
}

func (b *benchRun) loads() (closed []int, open []float64, err error) {
	given := 0
	for _, f := range []struct{ name, text string }{
		{"concurrency", b.concurrency}, {"sweep", b.sweep}, {"rps", b.rates}, {"rps-sweep", b.rateSweep},
	} {
		if f.text == "" {
			continue
		}
		if given++; given > 1 {
			return nil, nil, exit.Usagef("--concurrency, --sweep, --rps and --rps-sweep exclude each other: keep one")
		}
		for item := range strings.SplitSeq(f.text, ",") {
			item = strings.TrimSpace(item)
			n, numberErr := strconv.ParseFloat(item, 64)
			if whole := f.name == "concurrency" || f.name == "sweep"; numberErr != nil || !text.IsNumber(item) ||
				whole && n != float64(int(n)) {
				return nil, nil, exit.Usagef("--%s: %q is not such a number: write numbers separated by commas", f.name, item)
			} else if whole {
				closed = append(closed, int(n))
			} else {
				open = append(open, n)
			}
		}
	}
	return closed, open, nil
}

// setKey sets a value inside nested maps.
func setKey(body map[string]any, value any, path []string) {
	for _, key := range path[:len(path)-1] {
		next, ok := body[key].(map[string]any)
		if !ok {
			next = map[string]any{}
			if scalar, ok := body[key].(string); ok && key == "slo" {
				next["template"] = scalar // the short form of it
			}
			body[key] = next
		}
		body = next
	}
	body[path[len(path)-1]] = value
}
