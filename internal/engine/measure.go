package engine

import (
	"context"
	"fmt"
	"slices"
)

// plan is what a benchmark is asked to do.
type plan struct {
	options options // with the defaults filled in
	prompt  []int
	answer  int // tokens, at least 1
	runs    int // measured, at least 1
	warmup  int // not measured
	slow    Slowdown
}

// measure builds the model and answers the prompt as often as planned.
func (p *plan) measure(ctx context.Context) (*Report, error) {
	start := p.options.Now()
	model, err := New(p.options)
	if err != nil {
		return nil, err
	}
	loaded := p.options.Now().Sub(start)
	session, err := model.newSession(len(p.prompt) + p.answer)
	if err != nil {
		return nil, err
	}
	runs, err := p.repeat(ctx, session)
	if err != nil {
		return nil, err
	}
	report := p.report(model, loaded)
	return report, report.summarise(runs[p.warmup:])
}

// repeat runs the warm-up and the measured runs, which must all answer alike.
func (p *plan) repeat(ctx context.Context, session *session) ([]run, error) {
	var runs []run
	for i := range p.warmup + p.runs {
		r, err := p.run(ctx, session)
		if err != nil {
			return nil, err
		}
		if i > 0 && !slices.Equal(r.tokens, runs[0].tokens) {
			const advice = "run %d answered %v, run 1 %v: this host does not compute reliably; test its memory"
			return nil, fmt.Errorf(advice, i+1, r.tokens, runs[0].tokens)
		}
		runs = append(runs, r)
	}
	return runs, nil
}

func (p *plan) run(ctx context.Context, session *session) (run, error) {
	session.Reset()
	now := p.options.Now
	start := now()
	token, err := p.step(ctx, session, p.prompt, phasePrefill)
	if err != nil {
		return run{}, err
	}
	r := run{tokens: []int{token}}
	first := now()
	for len(r.tokens) < p.answer {
		if token, err = p.step(ctx, session, []int{token}, phaseDecode); err != nil {
			return run{}, err
		}
		r.tokens = append(r.tokens, token)
	}
	r.prefill, r.decode = first.Sub(start), now().Sub(first)
	r.operators = session.operators()
	return r, nil
}

// step feeds tokens and samples the next one, more slowly where asked to.
func (p *plan) step(ctx context.Context, session *session, tokens []int, phase string) (int, error) {
	session.parts[0].again = p.slow.again(phase)
	logits, err := session.prefill(ctx, tokens)
	if err != nil {
		return 0, err
	}
	token, err := greedy(logits)
	if err != nil {
		return 0, fmt.Errorf("model %s with seed %d: %w: try another seed", p.options.Model, p.options.Seed, err)
	}
	session.profile.lap(opSample)
	return token, nil
}
