package mock

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// Engine is whose habits the server has: its pages, headers and metric names.
type Engine string

// The engines.
const (
	VLLM     Engine = "vllm"
	SGLang   Engine = "sglang"
	LlamaCPP Engine = "llamacpp"
)

// engines lists every engine, the default first.
func engines() []Engine { return []Engine{VLLM, SGLang, LlamaCPP} }

// Defaults of [Config], and what it is held to.
const (
	defaultTokens = 16
	defaultModel  = "mock"
	maxTokens     = 1 << 20
	maxSlots      = 1 << 16
	maxFaults     = 100
	maxWait       = 24 * time.Hour
	maxConfig     = 1 << 20 // bytes of a configuration file
)

// Config is what a server does. The zero value of every field but Now is its
// default.
type Config struct {
	// TTFT is how long after a request has its slot the first token is sent, and
	// TPOT the distance of the tokens after it. Token i is due at
	// TTFT + i*TPOT, whenever the one before it was sent: nothing adds up.
	TTFT, TPOT time.Duration
	// Jitter makes each token later by a uniform draw from 0 to Jitter, from Seed
	// and the number of the request. Tokens keep their order.
	Jitter time.Duration
	Seed   uint64
	// Tokens is the length of an answer whose request names none (default 16).
	Tokens int
	// Slots is how many requests are answered at once; the others wait in the
	// order of their arrival. 0 is no limit.
	Slots int
	// Model is listed by /v1/models (default "mock"). Requests may name any.
	Model string
	// Engine is whose habits the server has (default vllm).
	Engine Engine
	// Answer is the text of each answer, in as many pieces as it has tokens; ""
	// is a row of words. It is ASCII.
	Answer string
	// CachedTokens of each prompt are said to be cached; 0 says nothing of it.
	CachedTokens int
	// Faults all apply where their requests coincide.
	Faults []Fault

	// Listen is the address (default 127.0.0.1:0, a free port).
	Listen string
	// Listener is served in place of Listen, by the timers of the runtime alone: one whose
	// connections are in memory needs no time but that of a synctest bubble.
	Listener net.Listener
	// H2C takes HTTP/2 alone, without TLS.
	H2C bool
	// Now is a monotonic clock, as time.Now is. It must be given.
	Now func() time.Time
}

// check returns what of a configuration makes no sense, defaults aside.
func (c Config) check() error {
	wait := func(name string, d time.Duration) error {
		if d < 0 || d > maxWait {
			return fmt.Errorf("%s %v: choose 0 to %v", name, d, maxWait)
		}
		return nil
	}
	count := func(name string, n, limit int) error {
		if n < 0 || n > limit {
			return fmt.Errorf("%s %d: choose 0 to %d", name, n, limit)
		}
		return nil
	}
	err := errors.Join(wait("ttft", c.TTFT), wait("tpot", c.TPOT), wait("jitter", c.Jitter), count("tokens", c.Tokens, maxTokens),
		count("slots", c.Slots, maxSlots), count("cached_tokens", c.CachedTokens, maxTokens),
		count("the number of faults", len(c.Faults), maxFaults))
	if c.Engine != "" && !slices.Contains(engines(), c.Engine) {
		err = errors.Join(err, fmt.Errorf("engine %q: choose one of %s", c.Engine, join(engines())))
	}
	if len(c.Answer) > maxConfig || strings.ContainsFunc(c.Answer, func(r rune) bool { return r > '~' }) {
		err = errors.Join(err, fmt.Errorf("answer has a character that is not ASCII, or more than %d bytes: correct it", maxConfig))
	}
	for _, f := range c.Faults {
		err = errors.Join(err, f.check())
	}
	return err
}

func (c Config) withDefaults() Config {
	c.Tokens, c.Model = cmp.Or(c.Tokens, defaultTokens), cmp.Or(c.Model, defaultModel)
	c.Engine, c.Listen = cmp.Or(c.Engine, VLLM), cmp.Or(c.Listen, "127.0.0.1:0")
	return c
}

func join[S ~string](list []S) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}
