package endpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/load"
	"github.com/accelgate/accelgate/internal/openai"
	"github.com/accelgate/accelgate/internal/serving"
	"github.com/accelgate/accelgate/internal/suite"
)

// record is what was sent and what came back. Its send is called by many
// goroutines at once.
type record struct {
	*measurement
	deadline time.Duration // when the window ends, if that is known
	stop     context.CancelCauseFunc

	mu           sync.Mutex
	observations []serving.Observation
	outstanding  map[int]int // by index
	failed       int
	refused      int // connections in a row
	reported     time.Duration
}

func newRecord(m *measurement, s load.Schedule) *record {
	r := &record{measurement: m, outstanding: map[int]int{}}
	if p := s.Plan(); p.Duration > 0 {
		r.deadline = m.now() + p.Warmup.Duration + p.Duration
	}
	return r
}

// send asks one question and keeps what became of it. Cool-down requests keep
// up the load and are not kept.
func (r *record) send(ctx context.Context, shot load.Shot) {
	q, err := r.question(shot)
	reply := openai.Reply{Outcome: openai.BadJSON}
	if err != nil {
		reply.Reason, reply.Send = err.Error(), r.now()
	} else {
		reply = r.client.Stream(ctx, q.body, q.expect)
	}
	if shot.Phase != load.Cooldown {
		r.keep(shot, reply)
	}
	r.pause(ctx, reply)
}

// errGone ends a load whose server does not take connections any more.
var errGone = errors.New("the server does not take connections any more")

// pause holds a slot of a closed loop for a moment after a failure, which takes
// hardly any time, and ends the load when no connection is taken any more.
func (r *record) pause(ctx context.Context, reply openai.Reply) {
	const (
		moment  = 50 * time.Millisecond
		inARow  = 20 // for each slot
		atLeast = 100
	)
	r.mu.Lock()
	r.refused++
	if reply.Outcome != openai.Connect && reply.Outcome != openai.ResetReused {
		r.refused = 0
	}
	gone := r.refused >= max(atLeast, inARow*min(r.point.concurrency, 10))
	r.mu.Unlock()
	if gone || r.server != nil && r.server.hasEnded() {
		r.stop(errGone)
		return
	}
	if failed := reply.Outcome != openai.OK && reply.Outcome != openai.Cancelled; failed && r.body.Load.Mode == load.Closed {
		select {
		case <-time.After(moment):
		case <-ctx.Done():
		}
	}
}

// unsent adds the requests that were due in the window and never got a slot.
func (r *record) unsent(log load.Log) {
	for range log.Measure.Due - log.Measure.Sent {
		r.observations = append(r.observations, serving.Observation{Index: len(r.observations), Phase: load.Measure, Due: log.Window.End,
			Reply: openai.Reply{Outcome: openai.Cancelled, Reason: "was due and never sent", PromptTokens: -1, OutputTokens: -1, CachedTokens: -1,
				ServerPromptMS: math.NaN(), ServerDecodeMS: math.NaN()}})
	}
}

func (r *record) keep(shot load.Shot, reply openai.Reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.observations = append(r.observations, serving.Observation{Index: shot.Index, Phase: shot.Phase, Due: shot.Due, Reply: reply})
	r.outstanding[shot.Index] = shot.Outstanding
	if reply.Outcome != openai.OK && reply.Outcome != openai.Cancelled {
		r.failed++
	}
	r.report()
}

// report tells how far the load is, at most five times a second.
func (r *record) report() {
	const often = 200 * time.Millisecond
	now := r.now()
	if r.env.Progress == nil || now-r.reported < often {
		return
	}
	r.reported = now
	left := time.Duration(-1)
	if r.deadline > 0 {
		left = max(r.deadline-now, 0)
	}
	r.env.Progress(suite.Progress{Cell: r.cell.ID(), Done: len(r.observations), Failed: r.failed,
		Rate: float64(len(r.observations)) / now.Seconds(), Elapsed: now, Left: left})
}

// count counts the requests of a phase.
func (r *record) count(phase load.Phase) (n int) {
	for i := range r.observations {
		if r.observations[i].Phase == phase {
			n++
		}
	}
	return n
}

// backlog is what each answered request says of the server's.
func (r *record) backlog() (samples []load.Sample) {
	if r.body.Load.Mode == load.Closed {
		return nil // whose backlog is its number of slots
	}
	for i := range r.observations {
		if o := &r.observations[i]; o.Phase == load.Measure && o.Reply.Outcome == openai.OK && o.Reply.First > o.Due {
			samples = append(samples, load.Sample{Due: o.Due, Outstanding: r.outstanding[o.Index], Latency: o.Reply.First - o.Due})
		}
	}
	return samples
}

// failures sums up why requests of the window were not answered, the most frequent reason
// first, each with the words of one of them.
func (r *record) failures() string {
	count, words := map[openai.Outcome]int{}, map[openai.Outcome]string{}
	for i := range r.observations {
		o := &r.observations[i]
		if reply := &o.Reply; o.Phase == load.Measure && reply.Outcome != openai.OK {
			count[reply.Outcome]++
			words[reply.Outcome] = cmp.Or(words[reply.Outcome], reply.Reason)
		}
	}
	kinds := slices.SortedFunc(maps.Keys(count), func(a, b openai.Outcome) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, k := range kinds[:min(len(kinds), 3)] {
		parts = append(parts, fmt.Sprintf("%d %s (%s)", count[k], k, words[k]))
	}
	if parts == nil {
		return "none was sent"
	}
	return strings.Join(parts, ", ")
}
