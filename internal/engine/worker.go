package engine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"
)

// maxRequest bounds a line of [Command.Worker]: a prompt of [maxTokens] bytes
// fits in it six times, however it is escaped.
const maxRequest = 1 << 20

const workerUsage = `Keeps the embedded engine loaded and answers requests, one JSON object a line.

Usage:
  accelgate engine worker [flags]

The flags and the environment are those of "accelgate engine bench"; --model, --seed, --backend and --threads choose what is
loaded, the others hold for each request that sets nothing else. Requests come on standard input and are answered in turn:

  {"id":1,"method":"ping"}
  {"id":2,"method":"run","params":{"prompt":"The gate is","decode_tokens":8}}
  {"id":3,"method":"run","params":{"prompt_tokens":128,"decode_tokens":1}}
  {"id":4,"method":"shutdown"}

The result of a run is what "accelgate engine bench" prints.
`

// Worker keeps a model and answers requests, given the arguments after `engine
// worker`, and returns the exit code. It uses the protocol that [Persistent]
// of package worker documents. The result of a run is the [Report] that Bench
// prints for the same arguments; no run sees anything of an earlier one. Worker
// ends when stdin does, when asked to, or when the context does; a read of
// stdin that blocks then is left behind.
//
// [Persistent]: https://pkg.go.dev/github.com/accelgate/accelgate/internal/worker#Persistent
func (c Command) Worker(ctx context.Context, stdin io.Reader, args []string) int {
	w, err := c.load(args)
	if err != nil {
		return c.Usage("worker", err, workerUsage)
	}
	if err := w.loop(ctx, requests(ctx, stdin)); err != nil {
		return c.Fail("worker", ExitFailure, err)
	}
	return ExitOK
}

// worker answers requests with one model.
type worker struct {
	Command
	args   []string // flags of every request
	model  *model
	loaded time.Duration
}

func (c Command) load(args []string) (*worker, error) {
	p, err := c.plan(args)
	if err != nil {
		return nil, err
	}
	start := c.Now()
	model, err := New(p.options)
	return &worker{c, args, model, c.Now().Sub(start)}, err
}

// line is one of the input, or why there are no more.
type line struct {
	text []byte
	err  error
}

// requests reads lines until the input or the context ends.
func requests(ctx context.Context, stdin io.Reader) <-chan line {
	lines := make(chan line)
	go func() {
		defer close(lines)
		in := bufio.NewScanner(stdin)
		in.Buffer(nil, maxRequest)
		for in.Scan() {
			select {
			case lines <- line{text: bytes.Clone(in.Bytes())}:
			case <-ctx.Done():
				return
			}
		}
		if err := in.Err(); err != nil {
			select {
			case lines <- line{err: fmt.Errorf("read a request: %w: see that one takes less than %d bytes", err, maxRequest)}:
			case <-ctx.Done():
			}
		}
	}()
	return lines
}

func (w *worker) loop(ctx context.Context, lines <-chan line) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case l, more := <-lines:
			if !more || l.err != nil {
				return l.err
			}
			if done, err := w.answer(ctx, l.text); done || err != nil {
				return err
			}
		}
	}
}

// answer serves one request. An error means that no further one can be.
func (w *worker) answer(ctx context.Context, text []byte) (done bool, err error) {
	var request struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	reply := struct {
		ID     json.RawMessage `json:"id"`
		Result any             `json:"result,omitempty"`
		Error  string          `json:"error,omitempty"`
	}{Result: struct{}{}}
	if err := json.Unmarshal(text, &request); err != nil {
		return false, fmt.Errorf("read a request: %w: write one JSON object a line", err)
	}
	reply.ID = request.ID
	switch request.Method {
	case "ping":
	case "shutdown":
		done = true
	case "run":
		reply.Result, err = w.run(ctx, request.Params)
	default:
		err = fmt.Errorf("unknown method %q: choose run, ping or shutdown", request.Method)
	}
	if err != nil {
		reply.Result, reply.Error = nil, err.Error()
	}
	out := json.NewEncoder(w.Stdout)
	out.SetEscapeHTML(false)
	if err := out.Encode(reply); err != nil {
		return false, fmt.Errorf("write an answer: %w: check where standard output goes", err)
	}
	return done, ctx.Err()
}

// run measures what params ask for, as bench would with the same flags.
func (w *worker) run(ctx context.Context, params json.RawMessage) (*Report, error) {
	flags, err := flagsOf(params)
	if err != nil {
		return nil, err
	}
	p, err := w.plan(append(w.args[:len(w.args):len(w.args)], flags...))
	if err != nil {
		return nil, err
	}
	session, err := w.model.newSession(len(p.prompt) + p.answer)
	if err != nil {
		return nil, err
	}
	runs, err := p.repeat(ctx, session)
	if err != nil {
		return nil, err
	}
	report := p.report(w.model, w.loaded)
	return report, report.summarise(runs[p.warmup:])
}

// report returns what was measured, without the numbers.
func (p *plan) report(model *model, loaded time.Duration) *Report {
	return &Report{
		Engine: "accelgate embedded", Model: p.options.Model, Seed: p.options.Seed,
		Backend: p.options.Backend, Threads: model.threads(), KVCacheDType: p.options.KVCache,
		PromptTokens: len(p.prompt), ModelLoadMS: milliseconds(loaded), Injected: p.slow,
	}
}

// flagsOf turns the params of a run into the flags that mean the same.
func flagsOf(params json.RawMessage) (flags []string, err error) {
	var p struct {
		Prompt       *string `json:"prompt"`
		PromptTokens *int    `json:"prompt_tokens"`
		DecodeTokens *int    `json:"decode_tokens"`
	}
	if len(params) > 0 {
		in := json.NewDecoder(bytes.NewReader(params))
		in.DisallowUnknownFields()
		if err := in.Decode(&p); err != nil {
			return nil, fmt.Errorf("params: %w: give prompt or prompt_tokens, and decode_tokens", err)
		}
	}
	if p.Prompt != nil {
		flags = append(flags, "--prompt="+*p.Prompt)
	}
	if p.PromptTokens != nil {
		flags = append(flags, "--prompt-tokens="+strconv.Itoa(*p.PromptTokens))
	}
	if p.DecodeTokens != nil {
		flags = append(flags, "--decode-tokens="+strconv.Itoa(*p.DecodeTokens))
	}
	return flags, nil
}
