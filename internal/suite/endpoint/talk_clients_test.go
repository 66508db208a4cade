package endpoint

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

const talking = `
base_url: http://127.0.0.1:9
mix: {base: 2, lora: 1}
request: {max_tokens: 3, system: Be brief.}
dataset: {kind: random, n: 100, seed: 5, cache_policy: as-is, input: {dist: fixed, value: 8}, conversation: {turns: {dist: uniform, min: 1, max: 4}, input: {dist: fixed, value: 3}, think_ms: {dist: uniform, min: 1, max: 90}}}
load: {concurrency: [8], duration: 5s}`

// talkers has n clients hold the conversations of a suite at once, on generated clocks, with a
// server whose times the conversation and its turn decide. It returns what was asked, sorted.
func talkers(t *testing.T, s *Suite, n int) (out latency.Output, asked []string) {
	p := load.Plan{Mode: load.Closed, Concurrency: 8, Duration: 5 * time.Second, Drain: time.Second}
	synctest.Test(t, func(t *testing.T) {
		schedule, err := p.Schedule()
		if err != nil {
			t.Fatal(err)
		}
		epoch := time.Now().Add(-time.Second)
		parts := make([]part, n)
		var mu sync.Mutex
		var clients sync.WaitGroup
		for k := range n {
			clients.Go(func() {
				one := talker(t, s, schedule, share{Index: k, Of: n}, epoch, func(question string) {
					mu.Lock()
					defer mu.Unlock()
					asked = append(asked, question)
				})
				parts[k] = one
			})
		}
		clients.Wait()
		all := merge(parts, epoch, p)
		out = latency.Compute(latency.Input{Observations: all.observations, Window: all.window})
	})
	slices.Sort(asked)
	return out, asked
}

func talker(t *testing.T, of *Suite, schedule load.Schedule, which share, epoch time.Time, note func(string)) part {
	in := *of.inputs
	in.share = which
	r := newRecord(&sender{inputs: &in, model: "m", asked: of.prompts, epoch: epoch}, schedule)
	now := func() time.Duration { return time.Since(epoch) }
	mine, err := schedule.Share(which.Index, which.Of)
	if err != nil {
		t.Error(err)
		return part{}
	}
	one := part{Epoch: epoch, Began: now()}
	var mu sync.Mutex
	log, err := load.Run(t.Context(), mine.Resting(r.think), now, func(_ context.Context, shot load.Shot) {
		q, err := r.question(shot)
		if err != nil {
			t.Error(err)
		}
		k := r.talkOf(shot.Slot)
		o := imagined(now, load.Shot{Index: 1000*k.number + k.turn, Phase: shot.Phase, Due: shot.Due})
		o.Index, o.Turn, o.Model = shot.Index, q.turn, q.model
		o.Reply.Text = fmt.Sprintf("answer %d to conversation %d", k.turn, k.number)
		r.follow(shot.Slot, &o.Reply)
		if shot.Phase == load.Measure {
			note(string(q.body.Bytes()))
			mu.Lock()
			defer mu.Unlock()
			one.observations = append(one.observations, o)
		}
	})
	if err != nil {
		t.Error(err)
	}
	one.Window = log.Window
	return one
}

// TestConversationsOfSeveralClients: the clients hold the conversations of one client, and what
// they measure of them is the same, bit by bit.
func TestConversationsOfSeveralClients(t *testing.T) {
	opened, err := openBody(t, "x.yaml", talking, env(t))
	if err != nil {
		t.Fatal(err)
	}
	s := opened.(*Suite)
	want, questions := talkers(t, s, 1)
	if len(questions) < 200 {
		t.Fatalf("%d questions", len(questions))
	}
	for _, n := range []int{2, 3, 8} {
		got, asked := talkers(t, s, n)
		if !slices.Equal(asked, questions) {
			t.Errorf("%d clients asked %d questions that are not the %d of one client", n, len(asked), len(questions))
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d clients:\n%+v\none:\n%+v", n, got, want)
		}
	}
}

// TestPromptsByTokensOfSeveralClients: three processes send the prompts that one sends, each once.
func TestPromptsByTokensOfSeveralClients(t *testing.T) {
	t.Parallel()
	sent := func(clients int) map[string]bool {
		bodies, r := overheard(t, "/v1/chat/completions", fmt.Sprintf(`
request: {max_tokens: 2}
dataset: {kind: random, length_unit: tokens, cache_policy: as-is, n: 300, input: {dist: uniform, min: 20, max: 90}}
load: {clients: %d, mode: constant, rate: [60], requests: 30, warmup: {requests: 3, duration: 0s}, drain: 10s}`, clients))
		if r.Outcome != bench.Passed || r.Counts[string(openai.OK)] != 30 || r.Conditions["length_unit"] != "tokens" {
			t.Fatalf("%s %s, %v", r.Outcome, r.Reason, r.Counts)
		}
		texts := map[string]bool{}
		for _, body := range bodies {
			if texts[string(body)] {
				t.Errorf("a prompt was sent twice by %d clients: %s", clients, body)
			}
			texts[string(body)] = true
		}
		return texts
	}
	const counted = 33 // of the warm-up and the window; how many are sent until these have ended depends on time
	one, three := sent(1), sent(3)
	both := 0
	for body := range one {
		if three[body] {
			both++
		}
	}
	if both < counted {
		t.Errorf("of %d prompts of one client and %d of three, %d are the same, want %d", len(one), len(three), both, counted)
	}
}
