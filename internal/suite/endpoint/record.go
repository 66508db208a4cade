package endpoint

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// record is what was sent and what came back. Its send is called by many
// goroutines at once.
type record struct {
	*sender
	plan  load.Plan
	stop  context.CancelCauseFunc
	began time.Duration

	parts *together // of several clients, nil of one

	mu           sync.Mutex
	observations []latency.Observation
	failed       int
	refused      int          // connections in a row
	talks        []talk       // by slot of all clients, if the suite converses
	reported     atomic.Int64 // when progress was reported last, as a time.Duration
}

func newRecord(c *sender, s load.Schedule) *record {
	r := &record{sender: c, plan: s.Plan()}
	if c.body.converses() {
		r.newTalks(r.plan.Concurrency)
	}
	return r
}

// begin notes when the load starts; stop ends it.
func (r *record) begin(stop context.CancelCauseFunc) {
	r.stop, r.began = stop, r.now()
}

// end shows that the load is over.
func (r *record) end() {
	if r.env.Progress != nil {
		r.env.Progress(suite.Progress{Cell: r.cell.ID(), Ended: true})
	}
}

// send asks one question and keeps what became of it. Cool-down requests keep
// up the load and are not kept.
func (r *record) send(ctx context.Context, shot load.Shot) {
	if r.alive != nil {
		defer r.alive.asks()()
	}
	q, err := r.question(shot)
	reply := openai.Reply{Outcome: openai.BadJSON}
	if err != nil {
		reply.Reason, reply.Send = err.Error(), r.now()
	} else {
		if q.body.Streams() {
			reply = r.client.Stream(ctx, q.body, q.expect)
		} else {
			reply = r.client.Whole(ctx, q.body)
		}
	}
	if r.talks != nil {
		r.follow(shot.Slot, &reply)
	}
	reply.Text = ""
	if shot.Phase != load.Cooldown {
		r.keep(shot, q, reply)
	}
	r.pause(ctx, reply)
}

// errGone ends a load whose server does not take connections any more.
var errGone = errors.New("the server does not take connections any more")

// pause holds a slot of a closed loop for a moment after a failure, which takes
// hardly any time, and ends the load when no connection is taken any more.
func (r *record) pause(ctx context.Context, reply openai.Reply) {
	const (
		moment     = 50 * time.Millisecond
		inARow     = 20 // for each slot
		minRefused = 100
	)
	r.mu.Lock()
	r.refused++
	if reply.Outcome != openai.Connect && reply.Outcome != openai.ResetReused {
		r.refused = 0
	}
	gone := r.refused >= max(minRefused, inARow*min(r.point.concurrency, 10))
	r.mu.Unlock()
	if gone || r.server != nil && r.server.HasEnded() {
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
	for _, shot := range log.Unsent {
		r.observations = append(r.observations,
			latency.Observation{Index: shot.Index, Phase: load.Measure, Due: shot.Due, Outstanding: shot.Outstanding, Capped: r.capped(),
				Reply: openai.Reply{
					Outcome:        openai.Cancelled,
					Reason:         "was due and never sent",
					PromptTokens:   -1,
					OutputTokens:   -1,
					StreamedTokens: -1,
					CachedTokens:   -1,
					ServerPromptMS: math.NaN(),
					ServerDecodeMS: math.NaN(),
				}})
	}
}

func (r *record) keep(shot load.Shot, q question, reply openai.Reply) {
	r.mu.Lock()
	r.observations = append(r.observations, latency.Observation{
		Index:       shot.Index,
		Phase:       shot.Phase,
		Due:         shot.Due,
		Words:       q.words,
		Outstanding: shot.Outstanding,
		Turn:        q.turn,
		Model:       q.model,
		Inputs:      q.inputs,
		Audio:       q.audio,
		Capped:      r.capped(),
		Reply:       reply,
	})
	if reply.Outcome != openai.OK && reply.Outcome != openai.Cancelled {
		r.failed++
	}
	done, failed := len(r.observations), r.failed
	r.mu.Unlock()
	r.report(done, failed)
}

// report shows how far the load is, at most five times a second. A terminal
// that takes its time holds up one request at most.
func (r *record) report(done, failed int) {
	const often = 200 * time.Millisecond
	now, last := r.now(), r.reported.Load()
	if r.env.Progress == nil || now-time.Duration(last) < often || !r.reported.CompareAndSwap(last, int64(now)) {
		return
	}
	elapsed := now - r.began
	rate := float64(done) / elapsed.Seconds()
	r.env.Progress(
		suite.Progress{Cell: r.cell.ID(), Done: done, Failed: failed, Rate: rate, Elapsed: elapsed, Left: r.left(done, elapsed, rate)},
	)
}

// left estimates how long the load will go on, from what is known of it: below
// 0 is not known.
func (r *record) left(done int, elapsed time.Duration, rate float64) time.Duration {
	p := r.plan
	left := time.Duration(-1)
	if p.Duration > 0 {
		left = p.Warmup.Duration + p.Duration - elapsed
	}
	if more := p.Warmup.Requests + p.Requests - done; p.Requests > 0 && rate > 0 {
		byCount := time.Duration(float64(more) / rate * float64(time.Second))
		if left < 0 || byCount < left {
			left = byCount
		}
	}
	return left
}
