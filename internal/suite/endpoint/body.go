package endpoint

import (
	"embed"
	"time"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
)

// body is the part of accelgate.yaml that belongs to this kind;
// docs/endpoints.md describes it.
type body struct {
	// Preset names a file of preset whose keys are the defaults of all others
	// here: what is asked, and how often.
	Preset      string `yaml:"preset"`
	Version     string `yaml:"suite_version"`
	Description string `yaml:"description"`

	Model        string `yaml:"model"`        // as requests name it; "" is the first that the server lists
	Mix          mix    `yaml:"mix"`          // models that requests name, by weight; nil is Model
	Engine       string `yaml:"engine"`       // "" is what the server says
	Quantization string `yaml:"quantization"` // as the user declares it
	BaseURL      string `yaml:"base_url"`
	APIKeyEnv    string `yaml:"api_key_env"`
	Server       server `yaml:"server"` // started for each measurement; in place of base_url

	Connection connection `yaml:"connection"`

	Request  request   `yaml:"request"`
	Dataset  prompts   `yaml:"dataset"`
	Load     loading   `yaml:"load"`
	Search   searching `yaml:"search"`
	Expect   expect    `yaml:"expect"`
	Timeouts timeouts  `yaml:"timeouts"`
	SLO      slo       `yaml:"slo"`
	// MinOKRate is the share of requests that must be answered for the numbers to count.
	MinOKRate float64  `yaml:"min_ok_rate"`
	PriceHour float64  `yaml:"price_per_hour"` // USD for the host, for the cost per token
	GPUs      []string `yaml:"gpus"`           // whose energy is measured; nil is the device of the cell
	Repeats   int      `yaml:"repeats"`
	// ClientDelay is how late the load generator may be before its numbers are
	// doubtful.
	ClientDelay time.Duration `yaml:"client_delay"`
	Gate        []string      `yaml:"gate"` // metrics that are gated in place of the default ones
}

type server struct {
	Command      []string          `yaml:"command"` // with {accelgate}, {model} and {port}
	Env          map[string]string `yaml:"env"`
	StartTimeout time.Duration     `yaml:"start_timeout"`
}

// connection is how a server that runs is reached.
type connection struct {
	CAFile    string            `yaml:"ca_file"` // certificates in place of the system's
	Proxy     string            `yaml:"proxy"`
	Socket    string            `yaml:"socket"`
	H2C       bool              `yaml:"h2c"` // HTTP/2 without TLS, by prior knowledge
	Query     map[string]string `yaml:"query"`
	Headers   map[string]string `yaml:"headers"`
	KeyHeader string            `yaml:"api_key_header"`
}

type request struct {
	API         string   `yaml:"api"`
	Inputs      int      `yaml:"inputs"` // texts of a request for embeddings, documents of one to rank; 0 is 1
	Files       []string `yaml:"files"`  // images of chats or recordings, one for each request in turn
	MaxTokens   int      `yaml:"max_tokens"`
	Temperature float64  `yaml:"temperature"`
	IgnoreEOS   bool     `yaml:"ignore_eos"`
	KeepAlive   bool     `yaml:"keepalive"`
	System      string   `yaml:"system"`
	Stop        []string `yaml:"stop"`
	// JSONSchema is a file: answers must be JSON of this schema.
	JSONSchema string `yaml:"json_schema"`
	// Extra are further members of the request's JSON object, each as JSON.
	Extra map[string]string `yaml:"extra"`
}

type prompts struct {
	dataset.Spec
	Policy dataset.Policy `yaml:"cache_policy"`
}

type loading struct {
	Mode        load.Mode `yaml:"mode"`
	Concurrency []int     `yaml:"concurrency"` // closed loop: points
	Rate        []float64 `yaml:"rate"`        // open loop: points, requests a second
	// RateEnd is the rate at the end of the duration, which each of Rate
	// approaches along Curve; 0 keeps it.
	RateEnd    float64    `yaml:"rate_end"`
	Curve      load.Curve `yaml:"rate_curve"`
	Scale      []float64  `yaml:"scale"` // trace: points, times the recorded rate
	Burstiness float64    `yaml:"burstiness"`
	Burst      int        `yaml:"burst"`
	// Ramp is over how long the slots of a closed loop start; 0 with AutoRamp
	// spreads them over one service time.
	Ramp        time.Duration `yaml:"ramp"`
	AutoRamp    bool          `yaml:"auto_ramp"`
	MaxInFlight int           `yaml:"max_in_flight"`
	Clients     int           `yaml:"clients"` // processes that send the load
	Duration    time.Duration `yaml:"duration"`
	Requests    int           `yaml:"requests"`
	Warmup      warmup        `yaml:"warmup"`
	Drain       time.Duration `yaml:"drain"`
}

type warmup struct {
	Requests int           `yaml:"requests"` // 0 is the larger of 3 and twice the requests at once
	Duration time.Duration `yaml:"duration"`
}

// searching is the search of the highest load that holds limits.
type searching struct {
	Metric    string            `yaml:"metric"` // rate or concurrency; "" searches nothing
	SLO       map[string]string `yaml:"slo"`    // limits by metric; a share may be written as 99%
	Min       float64           `yaml:"min"`
	Max       float64           `yaml:"max"`
	Precision float64           `yaml:"precision"`
	Repeats   int               `yaml:"repeats"`
	Budget    time.Duration     `yaml:"budget"`
}

// expect is what an answer must be to count.
type expect struct {
	// PromptTokens are the least that the server must count in each prompt: a
	// number, or byWords; "" is no limit.
	PromptTokens string `yaml:"prompt_tokens"`
}

type timeouts struct {
	First time.Duration `yaml:"first"`
	Idle  time.Duration `yaml:"idle"`
	Total time.Duration `yaml:"total"`
}

type slo struct {
	Template string        `yaml:"template,scalar"`
	Hardware string        `yaml:"hardware"` // class; "" is by the host's accelerators
	TTFT     time.Duration `yaml:"ttft"`     // in place of the template's
	TPOT     time.Duration `yaml:"tpot"`
	E2E      time.Duration `yaml:"e2e"`
}

// defaults is the body before any configuration is decoded over it.
func defaults() body {
	return body{
		Version: "1.0.0", Repeats: 1, MinOKRate: 0.95, ClientDelay: latency.MaxClientDelay,
		Server:  server{StartTimeout: 10 * time.Minute},
		Request: request{API: "chat", MaxTokens: 128, KeepAlive: true},
		Dataset: prompts{Spec: dataset.Spec{Kind: dataset.Builtin, Seed: 42}, Policy: dataset.Unique},
		Load: loading{
			Mode:       load.Closed,
			Clients:    1,
			AutoRamp:   true,
			Burstiness: 1,
			Warmup:     warmup{Duration: 2 * time.Second},
			Drain:      30 * time.Second,
		},
		Search:   searching{Min: 1, Max: 1024, Precision: 0.02, Repeats: 3, Budget: 15 * time.Minute},
		Timeouts: timeouts{First: 60 * time.Second, Idle: 30 * time.Second, Total: 120 * time.Second},
	}
}

// presets are the suites that ship with accelgate.
//
//go:embed preset/*.yaml
var presets embed.FS

// read decodes and checks the suite over its preset over the defaults.
func read(c *config.Suite) (*body, error) {
	own := defaults()
	if err := c.Decode(&own); err != nil {
		return nil, err
	}
	b := defaults()
	if own.Preset != "" {
		preset, err := suite.Preset(c, presets, own.Preset)
		if err != nil {
			return nil, err
		}
		if err := preset.Decode(&b); err != nil {
			return nil, err
		}
	}
	if err := c.Decode(&b); err != nil {
		return nil, err
	}
	if b.searches() { // loads of the preset are not the suite's own
		b.Load.Rate, b.Load.Concurrency = own.Load.Rate, own.Load.Concurrency
		if b.Search.Metric == searchConcurrency {
			b.Load.Mode = own.Load.Mode
		}
	}
	b.settle()
	return &b, b.check(c)
}

// settle fills in what follows from other keys: without an address, the
// embedded engine is what answers.
func (b *body) settle() {
	b.settleSearch()
	if b.Load.RateEnd != 0 && b.Load.Curve == "" {
		b.Load.Curve = load.Linear
	}
	if b.Load.Mode == load.Trace && len(b.Load.Scale) == 0 {
		b.Load.Scale = []float64{1}
	}
	if b.BaseURL == "" && b.Server.Command == nil {
		b.Server.Command = []string{"{accelgate}", "engine", "serve", "--listen", "127.0.0.1:{port}", "--slots", "64"}
		if b.Model != "" {
			b.Server.Command = append(b.Server.Command, "--model", "{model}")
		}
	}
}
