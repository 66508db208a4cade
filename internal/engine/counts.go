package engine

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/accelgate/accelgate/internal/engine/openai"
)

// counts are what /metrics shows. They may be used from any goroutine.
type counts struct {
	promptTokens, answerTokens, steps atomic.Int64
	length, stop                      atomic.Int64 // requests that succeeded, by why they ended
	cancelled, failed                 atomic.Int64
	computing, queued                 atomic.Int64 // nanoseconds
}

func (c *counts) step(took time.Duration, prompt, answer int) {
	c.computing.Add(int64(took))
	c.promptTokens.Add(int64(prompt))
	c.answerTokens.Add(int64(answer))
	c.steps.Add(1)
}

// metrics returns what /metrics shows, with the queue before the scheduler.
func (c *counts) metrics(q *openai.Queue) []openai.Metric {
	seconds := func(n *atomic.Int64) float64 { return time.Duration(n.Load()).Seconds() }
	all := []openai.Metric{}
	show := func(kind, name, help string, value float64) {
		all = append(all, openai.Metric{Name: "accelgate_" + name, Kind: kind, Help: help, Value: value})
	}
	show("counter", "prompt_tokens_total", "Tokens of prompts that were computed.", float64(c.promptTokens.Load()))
	show("counter", "generation_tokens_total", "Tokens of answers that were computed.", float64(c.answerTokens.Load()))
	show("counter", "steps_total", "Forward steps, each over all active sequences.", float64(c.steps.Load()))
	show("counter", "step_seconds_total", "Time in forward steps.", seconds(&c.computing))
	show("counter", "queue_seconds_total", "Time that requests waited for a slot.", seconds(&c.queued))
	show("gauge", "requests_running", "Requests that have a slot.", float64(q.Running.Load()))
	show("gauge", "requests_waiting", "Requests that wait for a slot.", float64(q.Waiting.Load()))
	show("counter", "request_cancelled_total", "Requests whose client went away.", float64(c.cancelled.Load()+q.GivenUp.Load()))
	show("counter", "request_refused_total", "Requests refused because too many wait.", float64(q.Refused.Load()))
	show("counter", "request_failure_total", "Requests whose answer broke off.", float64(c.failed.Load()))
	for _, end := range []struct {
		reason string
		count  *atomic.Int64
	}{{finishLength, &c.length}, {finishStop, &c.stop}} {
		show("counter", "request_success_total", "Requests answered to their end.", float64(end.count.Load()))
		all[len(all)-1].Labels = fmt.Sprintf("{finished_reason=%q}", end.reason)
	}
	return all
}
