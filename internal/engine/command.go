package engine

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"
)

// Exit codes of a [Command].
const (
	ExitOK      = 0
	ExitFailure = 1 // the engine could not answer, or not twice alike
	ExitUsage   = 2 // the arguments or the environment make no sense
)

// Command is the engine as a command line.
type Command struct {
	Stdout io.Writer // receives one [Report] as JSON and nothing else
	Stderr io.Writer // receives messages for people
	Getenv func(string) string
	Now    func() time.Time // monotonic, as time.Now is
}

const usage = `Measures the embedded engine and prints one JSON object.

Usage:
  accelgate engine bench [flags]

Examples:
  accelgate engine bench --prompt "The gate is" --decode-tokens 32
  accelgate engine bench --backend cpu_parallel --prompt-tokens 128 --decode-tokens 1
  KV_CACHE_DTYPE=q8_0 accelgate engine bench

Flags:
  --model NAME             %s (default %s)
  --seed N                 seed of the weights (default 1)
  --backend NAME           %s (default %s)
  --threads N              goroutines of cpu_parallel; 0 is all processors (default 0)
  --prompt TEXT            the prompt; a token is a byte
  --prompt-tokens N        a made-up prompt of N tokens instead (default 128)
  --decode-tokens N        length of the answer; the first token counts to the prefill (default 32)
  --runs N                 measured runs, of which the fastest counts (default 3)
  --warmup N               runs before them that do not count (default 1)
  --inject-slowdown LIST   demonstration: make phases slower, as in decode=30%%,prefill=10%%

Environment:
  KV_CACHE_DTYPE           %s (default %s)
`

// Bench answers a prompt with the arguments after `engine bench`, prints a
// [Report], and returns the exit code. It ends early, with ExitFailure, when
// the context does.
func (c Command) Bench(ctx context.Context, args []string) int {
	p, err := c.plan(args)
	if err != nil {
		return c.Usage("bench", err, usageText())
	}
	report, err := p.measure(ctx)
	if err != nil {
		return c.Fail("bench", ExitFailure, err)
	}
	out := json.NewEncoder(c.Stdout)
	out.SetEscapeHTML(false) // answers are full of < and &
	if err := out.Encode(report); err != nil {
		return c.Fail("bench", ExitFailure, fmt.Errorf("write the report: %w: check where standard output goes", err))
	}
	return ExitOK
}

// Usage ends the command `engine MODE` because of its arguments: with the help
// that was asked for, or with an error.
func (c Command) Usage(mode string, err error, help string) int {
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(c.Stdout, help)
		return ExitOK
	}
	return c.Fail(mode, ExitUsage, err)
}

// Fail prints an error of the command `engine MODE` and returns the exit code.
func (c Command) Fail(mode string, code int, err error) int {
	fmt.Fprintf(c.Stderr, "accelgate engine %s: %v\n", mode, err)
	return code
}

// Parse reads flags, whose set has the name of the command. Advice is what to
// do with an argument that is not a flag. Every error says what to type.
func Parse(flags *flag.FlagSet, args []string, advice string) error {
	flags.SetOutput(io.Discard)
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil:
		return fmt.Errorf("%w; see `accelgate engine %s -h`", err, flags.Name())
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q: %s", flags.Arg(0), advice)
	}
	return nil
}

func usageText() string {
	list := func(names []string) (string, string) { return strings.Join(names, ", "), names[0] }
	models, model := list(models())
	backends, backend := list(backends())
	dtypes, dtype := list(kvCacheDTypes())
	return fmt.Sprintf(usage, models, model, backends, backend, dtypes, dtype)
}
