package engine

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// counts are what /metrics shows. They may be used from any goroutine.
type counts struct {
	promptTokens, answerTokens, steps atomic.Int64
	running                           atomic.Int64
	length, stop                      atomic.Int64 // requests that succeeded, by why they ended
	cancelled, refused, failed        atomic.Int64
	computing, queued                 span
}

// span is a sum of durations.
type span struct{ nanoseconds atomic.Int64 }

func (s *span) add(d time.Duration) { s.nanoseconds.Add(int64(d)) }

func (c *counts) step(took time.Duration, prompt, answer int) {
	c.computing.add(took)
	c.promptTokens.Add(int64(prompt))
	c.answerTokens.Add(int64(answer))
	c.steps.Add(1)
}

// write prints the counts in the text format of Prometheus, version 0.0.4:
// https://prometheus.io/docs/instrumenting/exposition_formats/.
func (c *counts) write(w io.Writer, waiting int) {
	seconds := func(s *span) float64 { return time.Duration(s.nanoseconds.Load()).Seconds() }
	for _, m := range []struct {
		name, kind, help string
		value            float64
	}{
		{"prompt_tokens_total", "counter", "Tokens of prompts that were computed.", float64(c.promptTokens.Load())},
		{"generation_tokens_total", "counter", "Tokens of answers that were computed.", float64(c.answerTokens.Load())},
		{"steps_total", "counter", "Forward steps, each over all active sequences.", float64(c.steps.Load())},
		{"step_seconds_total", "counter", "Time in forward steps.", seconds(&c.computing)},
		{"queue_seconds_total", "counter", "Time that requests waited for a slot.", seconds(&c.queued)},
		{"requests_running", "gauge", "Requests that have a slot.", float64(c.running.Load())},
		{"requests_waiting", "gauge", "Requests that wait for a slot.", float64(waiting)},
		{"request_cancelled_total", "counter", "Requests whose client went away.", float64(c.cancelled.Load())},
		{"request_refused_total", "counter", "Requests refused because too many wait.", float64(c.refused.Load())},
		{"request_failure_total", "counter", "Requests whose answer broke off.", float64(c.failed.Load())},
	} {
		fmt.Fprintf(w, "# HELP accelgate_%s %s\n# TYPE accelgate_%s %s\naccelgate_%s %v\n", m.name, m.help, m.name, m.kind, m.name, m.value)
	}
	const success = "accelgate_request_success_total"
	fmt.Fprintf(w, "# HELP %s Requests answered to their end.\n# TYPE %s counter\n", success, success)
	fmt.Fprintf(w, "%s{finished_reason=%q} %d\n", success, finishLength, c.length.Load())
	fmt.Fprintf(w, "%s{finished_reason=%q} %d\n", success, finishStop, c.stop.Load())
}
