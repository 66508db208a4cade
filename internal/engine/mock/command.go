package mock

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/engine"
)

const usage = `Serves the OpenAI API without a model: tokens at exact times, and faults on demand.

Usage:
  accelgate engine mock [flags]

Examples:
  accelgate engine mock --ttft 50ms --tpot 10ms
  accelgate engine mock --engine llamacpp --slots 4 --fault close-after-reply
  accelgate engine mock --fault reset-midstream:after=3,every=5 --fault rate-limit:at=1

Prints "listening on http://ADDRESS" once it does, and serves until it is interrupted.

Flags:
  --listen ADDRESS   where to listen; port 0 is a free one (default %s)
  --ttft DURATION    from a request to its first token (default 0s)
  --tpot DURATION    from each token to the next (default 0s)
  --jitter DURATION  each token is late by up to this much (default 0s)
  --seed N           seed of the jitter (default 0)
  --tokens N         length of an answer whose request names none (default %d)
  --slots N          requests that are answered at once; 0 for no limit (default 0)
  --cached N         tokens of each prompt that are said to be cached (default 0)
  --answer TEXT      text of each answer, spread over its tokens (default a row of words)
  --model NAME       the model that /v1/models lists (default %s)
  --engine NAME      whose habits it has: %s (default vllm)
  --h2c              take HTTP/2 without TLS alone
  --fault FAULT      see below; may be repeated
  --config FILE      JSON with these flags as keys, "cached_tokens" and "faults" apart; flags after it count more

A fault is KIND or KIND:SETTING,... with these settings:
  at=K, every=N      the K-th request, or each N-th; without either, all
  after=TOKENS       where in the answer
  n=COUNT            how many parts, lines or tokens
  for=DURATION       how long

Kinds: %s
`

// defaultListen is not the port that vLLM, SGLang or llama.cpp choose.
const defaultListen = "127.0.0.1:8089"

// Run serves with the arguments after `engine mock` until ctx is done and
// returns the exit code. A server that has died, as told, stays until then.
func Run(c engine.Command, ctx context.Context, args []string) int {
	config, err := parse(args)
	if err != nil {
		return c.Usage("mock", err, fmt.Sprintf(usage, defaultListen, defaultTokens, defaultModel, join(engines()), join(kinds())))
	}
	config.Now = c.Now
	s := New(config)
	if err := s.Start(); err != nil {
		return c.Fail("mock", engine.ExitUsage, err)
	}
	defer s.Close()
	if _, err := fmt.Fprintf(c.Stdout, "listening on %s\n", s.URL); err != nil {
		return c.Fail("mock", engine.ExitFailure, fmt.Errorf("write the address: %w: check where standard output goes", err))
	}
	<-ctx.Done()
	return engine.ExitOK
}

// parse reads the arguments. Every error says what to type.
func parse(args []string) (Config, error) {
	var config Config
	if err := engine.Parse(config.flags(), args, "give settings as flags, see `accelgate engine mock -h`"); err != nil {
		return Config{}, err
	}
	if err := config.check(); err != nil {
		return Config{}, fmt.Errorf("%s: see `accelgate engine mock -h`", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return config, nil
}

// flags returns the flags, which write into c.
func (c *Config) flags() *flag.FlagSet {
	flags := flag.NewFlagSet("mock", flag.ContinueOnError)
	flags.StringVar(&c.Listen, "listen", defaultListen, "")
	flags.DurationVar(&c.TTFT, "ttft", 0, "")
	flags.DurationVar(&c.TPOT, "tpot", 0, "")
	flags.DurationVar(&c.Jitter, "jitter", 0, "")
	flags.Uint64Var(&c.Seed, "seed", 0, "")
	flags.IntVar(&c.Tokens, "tokens", defaultTokens, "")
	flags.IntVar(&c.Slots, "slots", 0, "")
	flags.IntVar(&c.CachedTokens, "cached", 0, "")
	flags.StringVar(&c.Answer, "answer", "", "")
	flags.StringVar(&c.Model, "model", defaultModel, "")
	flags.StringVar((*string)(&c.Engine), "engine", string(VLLM), "")
	flags.BoolVar(&c.H2C, "h2c", false, "")
	flags.Func("fault", "", func(text string) error {
		fault, err := parseFault(text)
		c.Faults = append(c.Faults, fault)
		return err
	})
	flags.Func("config", "", func(name string) error {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		return setFlags(flags, file)
	})
	return flags
}

// keys are those of a file that are not the names of their flags.
var keys = map[string]string{"cached_tokens": "cached", "faults": "fault"}

// setFlags reads flags from JSON. Every key may be left out; unknown ones are errors:
//
//	{"ttft": "50ms", "tpot": "10ms", "jitter": "1ms", "seed": 1, "tokens": 128, "slots": 4, "model": "mock",
//	 "engine": "vllm", "cached_tokens": 0, "faults": ["reset-midstream:after=3,every=5"], "listen": "127.0.0.1:8089"}
func setFlags(flags *flag.FlagSet, r io.Reader) error {
	decoder := json.NewDecoder(io.LimitReader(r, maxConfig))
	decoder.UseNumber()
	var file map[string]any
	if err := decoder.Decode(&file); err != nil {
		return fmt.Errorf("read the mock's configuration: %w: see `accelgate engine mock -h` for its form", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("read the mock's configuration: there is more than one JSON value: leave one object")
	}
	for _, key := range slices.Sorted(maps.Keys(file)) {
		name := cmp.Or(keys[key], key)
		if name == "config" || flags.Lookup(name) == nil {
			return fmt.Errorf("unknown field %q: write the name of a flag", key)
		}
		values, list := file[key].([]any)
		if !list {
			values = []any{file[key]}
		}
		for _, value := range values {
			if err := flags.Set(name, fmt.Sprint(value)); err != nil {
				return fmt.Errorf("%s: %w: write what --%s takes; a duration is written as in \"50ms\"", key, err, name)
			}
		}
	}
	return nil
}
