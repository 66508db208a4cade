package mock

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Exit codes of [Command.Run].
const (
	exitOK      = 0
	exitFailure = 1 // it could not say that it listens
	exitUsage   = 2 // the arguments make no sense, or the address is taken
)

// Command is the server as a command line.
type Command struct {
	Stdout io.Writer // receives one line, once the server listens
	Stderr io.Writer // receives messages for people
	Now    func() time.Time
}

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
// returns the exit code.
func (c Command) Run(ctx context.Context, args []string) int {
	config, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(c.Stdout, usage, defaultListen, defaultTokens, defaultModel, join(engines()), join(kinds()))
		return exitOK
	case err != nil:
		return c.fail(exitUsage, err)
	}
	config.Now = c.Now
	return c.serve(ctx, config)
}

func (c Command) serve(ctx context.Context, config Config) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var unsaid error
	err := serve(ctx, config, func(url string) {
		if _, unsaid = fmt.Fprintf(c.Stdout, "listening on %s\n", url); unsaid != nil {
			cancel()
		}
	})
	switch {
	case err != nil:
		return c.fail(exitUsage, err)
	case unsaid != nil:
		return c.fail(exitFailure, fmt.Errorf("write the address: %w: check where standard output goes", unsaid))
	}
	return exitOK
}

func (c Command) fail(code int, err error) int {
	fmt.Fprintf(c.Stderr, "accelgate engine mock: %v\n", err)
	return code
}

// parse reads the arguments. Every error says what to type.
func parse(args []string) (Config, error) {
	config := Config{Listen: defaultListen}
	flags := flag.NewFlagSet("mock", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&config.Listen, "listen", config.Listen, "")
	flags.DurationVar(&config.TTFT, "ttft", 0, "")
	flags.DurationVar(&config.TPOT, "tpot", 0, "")
	flags.DurationVar(&config.Jitter, "jitter", 0, "")
	flags.Uint64Var(&config.Seed, "seed", 0, "")
	flags.IntVar(&config.Tokens, "tokens", defaultTokens, "")
	flags.IntVar(&config.Slots, "slots", 0, "")
	flags.IntVar(&config.CachedTokens, "cached", 0, "")
	flags.StringVar(&config.Answer, "answer", "", "")
	flags.StringVar(&config.Model, "model", defaultModel, "")
	flags.StringVar((*string)(&config.Engine), "engine", string(VLLM), "")
	flags.BoolVar(&config.H2C, "h2c", false, "")
	flags.Func("fault", "", func(text string) error {
		fault, err := parseFault(text)
		config.Faults = append(config.Faults, fault)
		return err
	})
	flags.Func("config", "", func(name string) error { return readFile(name, &config) })
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return Config{}, err
	case err != nil:
		return Config{}, fmt.Errorf("%w; see `accelgate engine mock -h`", err)
	case flags.NArg() > 0:
		return Config{}, fmt.Errorf("unexpected argument %q: give settings as flags, see `accelgate engine mock -h`", flags.Arg(0))
	}
	if err := config.check(); err != nil {
		return Config{}, fmt.Errorf("%s: see `accelgate engine mock -h`", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return config, nil
}

func readFile(name string, config *Config) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	read, err := readConfig(file)
	if err != nil {
		return err
	}
	if read.Listen == "" {
		read.Listen = config.Listen
	}
	*config = read
	return nil
}
