package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

const (
	maxRepeats = 1000
	maxTokens  = 1 << 20
	minScale   = 0.001
	maxScale   = 1000
)

var (
	semver       = lazyregexp.New(`^\d+\.\d+\.\d+(-[\w.]+)?$`)
	variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// check validates what types cannot say.
func (b *body) check(c *config.Suite) error {
	errs := []error{
		b.checkAddress(c),
		b.checkRequest(c),
		b.checkPoints(c),
		b.checkTimes(c),
		b.checkSLO(c),
		b.checkMetrics(c),
		b.checkExpect(c),
		b.checkConnection(c),
		b.checkSearch(c),
		b.checkConversation(c),
		b.checkMix(c),
		b.checkKind(c),
		b.checkWatch(c),
	}
	switch {
	case !semver.MatchString(b.Version):
		errs = append(errs,
			c.Errorf("suite_version", "is %q: write a version such as 1.0.0, and raise it when what is asked changes", b.Version))
	case b.Repeats < 1 || b.Repeats > maxRepeats:
		errs = append(errs, c.Errorf("repeats", "is %d: use 1 to %d", b.Repeats, maxRepeats))
	case !(b.MinOKRate >= 0 && b.MinOKRate <= 1):
		errs = append(errs, c.Errorf("min_ok_rate", "is %v: write a share from 0 to 1, such as 0.95", b.MinOKRate))
	case !(b.PriceHour >= 0) || math.IsInf(b.PriceHour, 0):
		errs = append(errs, c.Errorf("price_per_hour", "is %v: write what the host costs in USD an hour", b.PriceHour))
	}
	errs = append(errs, suite.CheckEnv(c, "server.env", b.Server.Env)...)
	return errors.Join(errs...)
}

// checkAddress settles who answers: a server that is there, or one that is
// started.
func (b *body) checkAddress(c *config.Suite) error {
	switch {
	case b.BaseURL != "" && len(b.Server.Command) > 0:
		return c.Errorf("server", "stands beside base_url: keep base_url for a server that runs, or server for one that is started")
	case b.BaseURL == "" && (len(b.Server.Command) == 0 || b.Server.Command[0] == ""):
		return c.Errorf("server.command", "is empty: write the program and its arguments, or leave server out for the embedded engine")
	case b.BaseURL == "" && !strings.Contains(strings.Join(b.Server.Command, " "), "{port}"):
		return c.Errorf("server.command", "has no {port}: add the option that makes the server listen there")
	case b.APIKeyEnv != "" && !variableName.MatchString(b.APIKeyEnv):
		return c.Errorf("api_key_env",
			"%q is not a name of a variable: write the name of the one that holds the key, such as OPENAI_API_KEY, never the key",
			b.APIKeyEnv)
	case b.BaseURL == "":
		return nil
	}
	if err := openai.CheckURL(b.BaseURL); err != nil {
		return c.Errorf("base_url", "%v", err)
	}
	return nil
}

func (b *body) checkRequest(c *config.Suite) error {
	r := &b.Request
	switch {
	case r.MaxTokens < 1 || r.MaxTokens > maxTokens:
		return c.Errorf("request.max_tokens", "is %d: use 1 to %d", r.MaxTokens, maxTokens)
	case !(r.Temperature >= 0 && r.Temperature <= 2):
		return c.Errorf("request.temperature", "is %v: use 0 to 2", r.Temperature)
	case r.JSONSchema != "" && r.API != "chat":
		return c.Errorf("request.json_schema", "is for chats: remove it, or set request.api: chat")
	case r.JSONSchema != "" && r.Extra["response_format"] != "":
		return c.Errorf("request.extra", "has a response_format beside json_schema: remove one of the two")
	case r.API == "completions" && r.System != "":
		return c.Errorf("request.system", "is for chats: remove it, or set request.api: chat")
	}
	for _, name := range slices.Sorted(maps.Keys(r.Extra)) {
		if !json.Valid([]byte(r.Extra[name])) {
			return c.Errorf("request.extra."+name, "%q is not JSON: write a number, true, or a text with its own quotes, as in '\"high\"'",
				r.Extra[name])
		}
	}
	return nil
}

// checkPoints finds out what the modes' own check, of each point's plan, does
// not see.
func (b *body) checkPoints(c *config.Suite) error {
	l := &b.Load
	if l.Clients < 1 || l.Clients > maxClients {
		return c.Errorf("load.clients", "is %d: write 1 to %d", l.Clients, maxClients)
	}
	if b.searches() {
		return nil
	}
	closed, open := l.Mode == load.Closed, l.Mode != load.Closed && l.Mode != load.Trace
	switch {
	case closed && len(l.Concurrency) == 0:
		return c.Errorf("load.concurrency", "is empty: write how many requests run at once, such as [1, 16]")
	case !closed && len(l.Concurrency) > 0:
		return c.Errorf("load.concurrency", "is for mode closed: write rate, or bound the requests at once with max_in_flight")
	case closed && l.MaxInFlight != 0:
		return c.Errorf("load.max_in_flight", "is for open loops: write concurrency")
	case open && len(l.Rate) == 0:
		return c.Errorf("load.rate", "is empty: write how many requests arrive a second, such as [1, 4]")
	case !open && len(l.Rate) > 0:
		return c.Errorf("load.rate", "has no effect in mode %s: remove it, or set mode: gamma", l.Mode)
	case (l.Mode == load.Trace) != (b.Dataset.Kind == dataset.Trace):
		return c.Errorf("load.mode",
			"mode trace and dataset.kind trace go together, because the file holds the arrival time of each request: set both")
	}
	if !open && (l.RateEnd != 0 || l.Curve != "") {
		return c.Errorf("load.rate_end", "has no effect in mode %s: remove it, or set mode: gamma", l.Mode)
	}
	if l.Mode != load.Trace && len(l.Scale) > 0 {
		return c.Errorf("load.scale", "is for mode trace: remove it")
	}
	for i, x := range l.Scale {
		if !(x >= minScale && x <= maxScale) || slices.Contains(l.Scale[:i], x) {
			return c.Errorf(fmt.Sprintf("load.scale[%d]", i),
				"is %v: write another number from %v to %v each, such as 2 for twice the recorded rate", x, minScale, float64(maxScale))
		}
	}
	for i, n := range l.Concurrency {
		if slices.Contains(l.Concurrency[:i], n) {
			return c.Errorf(fmt.Sprintf("load.concurrency[%d]", i), "%d occurs twice: remove one", n)
		}
	}
	for i, r := range l.Rate {
		if slices.Contains(l.Rate[:i], r) {
			return c.Errorf(fmt.Sprintf("load.rate[%d]", i), "%v occurs twice: remove one", r)
		}
	}
	return nil
}

// checkPlans lays out the load of each point before anything is measured.
func (s *Suite) checkPlans(c *config.Suite) error {
	points := s.body.Load.points()
	if s.body.searches() {
		points = []point{s.body.Search.point(s.body.Search.Min), s.body.Search.point(s.body.Search.Max)}
	}
	for _, p := range points {
		schedule, err := s.plan(p).Schedule()
		if err == nil {
			_, err = schedule.Share(0, s.clients())
		}
		if err != nil {
			return c.Errorf("load", "%s: %v", p, err)
		}
	}
	return nil
}

func (b *body) checkTimes(c *config.Suite) error {
	for _, t := range []struct {
		path string
		d    time.Duration
	}{{"timeouts.first", b.Timeouts.First}, {"timeouts.idle", b.Timeouts.Idle}, {"timeouts.total", b.Timeouts.Total},
		{"client_delay", b.ClientDelay}, {"slo.ttft", b.SLO.TTFT}, {"slo.tpot", b.SLO.TPOT}, {"slo.e2e", b.SLO.E2E}} {
		if t.d < 0 || t.d > 24*time.Hour {
			return c.Errorf(t.path, "is %v: write a duration from 0 to 24h, such as 30s", t.d)
		}
	}
	if b.Server.StartTimeout <= 0 {
		return c.Errorf("server.start_timeout", "is %v: write how long the server may take to load its model, such as 10m",
			b.Server.StartTimeout)
	}
	return nil
}

func (b *body) checkSLO(c *config.Suite) error {
	t, err := readTemplates()
	if err != nil {
		return err
	}
	if _, ok := t.Templates[b.SLO.Template]; !ok && b.SLO.Template != "" {
		return c.Errorf("slo.template", "unknown template %q: use one of %s", b.SLO.Template,
			strings.Join(slices.Sorted(maps.Keys(t.Templates)), ", "))
	}
	if _, ok := t.Hardware[b.SLO.Hardware]; !ok && b.SLO.Hardware != "" {
		return c.Errorf("slo.hardware", "unknown class %q: use one of %s", b.SLO.Hardware,
			strings.Join(slices.Sorted(maps.Keys(t.Hardware)), ", "))
	}
	return nil
}

func (b *body) checkMetrics(c *config.Suite) error {
	if _, err := latency.Metrics(b.Gate...); err != nil {
		return c.Errorf("gate", "%v", err)
	}
	return nil
}
