package endpoint

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
	"github.com/accelgate/accelgate/internal/worker"
)

// TestAlive: a server is silent while it loads, and while it works on requests and sends nothing;
// not while nothing is asked of it.
func TestAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := alive{now: time.Now}
		quiet := func(want time.Duration) {
			t.Helper()
			if got := time.Since(time.Unix(0, a.at())); got != want && want >= 0 || want < 0 && got < time.Hour {
				t.Errorf("silent for %v, want %v", got, want)
			}
		}
		quiet(-1) // it loads
		a.loaded.Store(true)
		time.Sleep(time.Minute)
		quiet(0)
		first := a.asks()
		time.Sleep(time.Second)
		second := a.asks()
		time.Sleep(time.Second)
		quiet(2 * time.Second)
		a.heard()
		time.Sleep(time.Second)
		quiet(time.Second)
		first()
		quiet(time.Second)
		second()
		quiet(0)
		time.Sleep(time.Minute)
		defer a.asks()()
		quiet(0) // it may take its time from now on
	})
}

// TestWrongAnswersAreFinal: a server that was ended at its bound, or crashed, is measured again,
// but not one that had given wrong answers before.
func TestWrongAnswersAreFinal(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		answer openai.Outcome
		end    worker.Response
		want   bench.Cause
	}{
		{openai.Invalid, worker.Response{End: worker.TimedOut}, bench.CauseOutput},
		{openai.PromptTruncated, worker.Response{End: worker.Silent, Quiet: time.Second}, bench.CauseOutput},
		{openai.Invalid, worker.Response{End: worker.Signalled, Signal: "killed", OutOfMemory: true}, bench.CauseOutput},
		{openai.Connect, worker.Response{End: worker.TimedOut}, bench.CauseTimeout},
		{openai.Connect, worker.Response{End: worker.Silent, Quiet: time.Second}, bench.CauseSilent},
		{openai.Connect, worker.Response{End: worker.Signalled, Signal: "killed", OutOfMemory: true}, bench.CauseOOM},
		{openai.Connect, worker.Response{End: worker.Exited}, bench.CauseCrash},
	} {
		m := &measurement{sender: sender{inputs: &inputs{body: &body{MinOKRate: 0.95}},
			server: &running{died: true, Background: &worker.Background{Response: test.end}}}}
		m.seen = &record{sender: &m.sender}
		for _, o := range []openai.Outcome{openai.OK, openai.OK, test.answer} {
			m.seen.observations = append(m.seen.observations, latency.Observation{Phase: load.Measure, Reply: openai.Reply{Outcome: o, Reason: "why"}})
		}
		r := bench.Result{Outcome: bench.Passed, Counts: map[string]int{string(openai.OK): 2, string(test.answer): 1}}
		m.incorrect = m.answers().judge(&r, true)
		if err := m.ended(t.Context(), &r, nil); err != nil || r.Cause != test.want || r.Outcome == bench.Passed {
			t.Errorf("%s, then %s: %v, %s, %q: %s, want %q", test.answer, test.end.End, err, r.Outcome, r.Cause, r.Reason, test.want)
		}
	}
}
