package endpoint

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
)

// Shard is one of several hosts that send a load together.
type Shard struct {
	Index, Of int // Index from 1
	Start     time.Time

	found *ShardFile // what was measured, once it was
}

// ShardFile is what a shard leaves for the merge. It is no run: numbers of a part of a
// load must not be judged.
type ShardFile struct {
	Format int       `json:"accelgate_shard"` // shardFormat
	Index  int       `json:"index"`           // from 1
	Of     int       `json:"of"`
	Start  time.Time `json:"start"`
	Config string    `json:"configuration"` // digest
	// Prompts is the digest of the lengths that the server's own count of tokens gave
	// the prompts; empty where they are counted in words.
	Prompts  string    `json:"prompts,omitempty"`
	Settings settings  `json:"settings"`
	Part     part      `json:"part"`
	Run      bench.Run `json:"run"`

	from string // where it was read
}

const shardFormat = 1

// settings are what the merge computes metrics by.
type settings struct {
	Mode        load.Mode     `json:"mode"`
	Requests    int           `json:"requests"`
	MaxInFlight int           `json:"max_in_flight"`
	SLO         latency.SLO   `json:"slo"`
	PriceHour   float64       `json:"price_per_hour"`
	MinOKRate   float64       `json:"min_ok_rate"`
	ClientDelay time.Duration `json:"client_delay_ns"`
	Mix         mix           `json:"mix,omitempty"`
}

// Sharded is Kind for a host that sends a part of a load.
func Sharded(of *Shard) suite.Kind {
	k := Kind
	k.Open = func(c *config.Suite, env suite.Env) (suite.Suite, error) {
		opened, err := open(c, env)
		if err != nil {
			return nil, err
		}
		s := opened.(*Suite)
		s.shard, s.share = of, share{Index: of.Index - 1, Of: of.Of}
		return s, s.checkShard()
	}
	return k
}

// checkShard refuses what several hosts cannot send together.
func (s *Suite) checkShard() error {
	c := s.config
	switch {
	case s.body.BaseURL == "":
		return c.Errorf("base_url", "is absent: all shards load one server, so name it with base_url or --base-url")
	case s.body.searches():
		return c.Errorf("search", "chooses each load by the one before it, which shards cannot: search with load.clients on one host")
	case len(s.cells) != 1:
		return c.Errorf("load", "has %d loads, and shards begin one at a time: choose it with --concurrency or --rps", len(s.cells))
	case s.body.Repeats != 1:
		return c.Errorf("repeats", "is %d, and shards begin one measurement at a time: leave it out, and start the shards again",
			s.body.Repeats)
	}
	schedule, err := s.plan(s.points[s.cells[0].ID()]).Schedule()
	if err == nil {
		_, err = schedule.Share(0, s.share.Of*s.clients())
	}
	if err != nil {
		return c.Errorf("load", "%v", err)
	}
	return nil
}

// nonces is the seed of unique prompts, the same on all shards of one start.
func (s *Shard) nonces() uint64 {
	sum := sha256.Sum256([]byte(s.Start.UTC().Format(time.RFC3339Nano)))
	return binary.BigEndian.Uint64(sum[:]) >> 1
}

// localStart is when the load begins by this host's clock; zero is at once.
func (m *measurement) localStart() time.Time {
	if m.suite.shard == nil {
		return time.Time{}
	}
	return m.suite.shard.Start.Add(-m.clock.correction())
}

// beforeStart is how long before the start connections are opened: servers close those
// that idle.
const beforeStart = 4 * time.Second

// waitForStart waits until some time before the load begins. A shard that is late
// would load the server alone.
func (m *measurement) waitForStart(ctx context.Context, before time.Duration) error {
	start := m.localStart()
	if start.IsZero() {
		return nil
	}
	left := start.Sub(m.env.Now())
	if m.suite.shard != nil && left < 0 {
		return m.late(-left)
	}
	return waitUntil(ctx, left-before)
}

// waitUntil waits until something is due.
func waitUntil(ctx context.Context, left time.Duration) error {
	select {
	case <-time.After(left):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *measurement) late(by time.Duration) error {
	return fmt.Errorf("shard %d of %d was ready %.1f s after the start at %s: start all shards again with a later --start-at",
		m.suite.shard.Index, m.suite.shard.Of, by.Seconds(), m.suite.shard.Start.UTC().Format(time.RFC3339))
}

// handOver keeps what the merge of the shards needs. Numbers of a part judge nothing.
func (m *measurement) handOver(result *bench.Result) {
	if m.suite.shard == nil {
		return
	}
	m.own.Clock = m.clock
	l := &m.body.Load
	m.suite.shard.found = &ShardFile{
		Format: shardFormat,
		Index:  m.suite.shard.Index,
		Of:     m.suite.shard.Of,
		Start:  m.suite.shard.Start.UTC(),
		Config: m.configuration(),
		Part:   m.own,
		Settings: settings{
			Mode:        l.Mode,
			Requests:    l.Requests,
			MaxInFlight: l.MaxInFlight,
			SLO:         latency.SLO{TTFT: m.suite.slo.ttft, TPOT: m.suite.slo.tpot, E2E: m.suite.slo.e2e},
			PriceHour:   m.body.PriceHour,
			MinOKRate:   m.body.MinOKRate,
			ClientDelay: m.body.ClientDelay,
			Mix:         m.body.Mix,
		},
	}
	if m.dataset.CountsTokens() {
		m.suite.shard.found.Prompts = digestOf(m.texts.Fitted())
	}
	result.Caveat = fmt.Sprintf("shard %d of %d is a part of the load: merge all with 'accelgate bench merge'",
		m.suite.shard.Index, m.suite.shard.Of)
	result.Warnings = append(result.Warnings, m.clock.String())
}

// configuration identifies what all shards must have in common.
func (m *measurement) configuration() string {
	return digestOf([]any{m.body, m.dataset.Hash, m.schedule.Digest(), m.name})
}

// digestOf is the SHA-256 of plain values.
func digestOf(v any) string {
	data, _ := json.Marshal(v)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// File returns what the shard measured as the document that the merge reads, nil if
// it measured nothing.
func (s *Shard) File(run *bench.Run) *ShardFile {
	if s.found == nil {
		return nil
	}
	f := *s.found
	f.Run = *run
	return &f
}

// facts are what all shards must agree on, by their names for people.
func (f *ShardFile) facts() map[string]string {
	facts := map[string]string{
		"commit":             f.Run.Revision,
		"accelgate":          f.Run.Tool,
		"configuration":      f.Config,
		"number of shards":   fmt.Sprint(f.Of),
		"lengths of prompts": f.Prompts,
		"start":              f.Start.UTC().Format(time.RFC3339Nano),
	}
	r := &f.Run.Results[0]
	facts["suite"], facts["load"] = r.Cell.Suite, r.Cell.ID()
	maps.Copy(facts, r.Facts())
	for _, own := range []string{"token_source", bench.StreamedTokens, "energy_not_measured", "energy_scope", "energy_method"} {
		delete(facts, own)
	}
	return facts
}
