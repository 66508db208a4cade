package engine

import (
	"errors"
	"flag"
	"fmt"
	"strings"
)

// kvCacheEnv is the environment variable that chooses the KV cache dtype.
const kvCacheEnv = "KV_CACHE_DTYPE"

const maxRuns = 1000

// filler is what made-up prompts are cut from.
const filler = "This letter takes its time, and so does the next. "

// plan reads the arguments and the environment. Every error says what to type.
func (c Command) plan(args []string) (*plan, error) {
	p := &plan{options: options{Now: c.Now}}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&p.options.Model, "model", "", "")
	flags.Uint64Var(&p.options.Seed, "seed", 1, "")
	flags.StringVar(&p.options.Backend, "backend", "", "")
	flags.IntVar(&p.options.Threads, "threads", 0, "")
	prompt := flags.String("prompt", "", "")
	promptTokens := flags.Int("prompt-tokens", 128, "")
	flags.IntVar(&p.answer, "decode-tokens", 32, "")
	flags.IntVar(&p.runs, "runs", 3, "")
	flags.IntVar(&p.warmup, "warmup", 1, "")
	flags.Var(&p.slow, "inject-slowdown", "")
	if err := Parse(flags, args, "quote a prompt and give it as --prompt"); err != nil {
		return nil, err
	}
	return p, errors.Join(p.setPrompt(flags, *prompt, *promptTokens), p.checkLengths(), p.setOptions(c.Getenv(kvCacheEnv)))
}

func (p *plan) setPrompt(flags *flag.FlagSet, text string, tokens int) error {
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case given["prompt"] && given["prompt-tokens"]:
		return errors.New("--prompt and --prompt-tokens exclude each other: drop one of them")
	case given["prompt"] && text == "":
		return errors.New("--prompt is empty: give some text, or a number with --prompt-tokens")
	case given["prompt"]:
		p.prompt = encode(text)
	case tokens < 1 || tokens >= maxTokens:
		return fmt.Errorf("--prompt-tokens %d: choose 1 to %d", tokens, maxTokens-1)
	default:
		p.prompt = encode(strings.Repeat(filler, tokens/len(filler)+1)[:tokens])
	}
	return nil
}

func (p *plan) checkLengths() error {
	switch {
	case p.answer < 1 || p.answer > maxTokens:
		return fmt.Errorf("--decode-tokens %d: choose 1 to %d", p.answer, maxTokens)
	case len(p.prompt)+p.answer > maxTokens:
		const advice = "a prompt of %d tokens and an answer of %d are more than %d together: shorten one of them"
		return fmt.Errorf(advice, len(p.prompt), p.answer, maxTokens)
	case p.runs < 1 || p.runs > maxRuns:
		return fmt.Errorf("--runs %d: choose 1 to %d", p.runs, maxRuns)
	case p.warmup < 0 || p.warmup > maxRuns:
		return fmt.Errorf("--warmup %d: choose 0 to %d", p.warmup, maxRuns)
	}
	return nil
}

func (p *plan) setOptions(dtype string) (err error) {
	p.options.KVCache = dtype
	p.options, err = p.options.withDefaults()
	return err
}
