package harness

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
)

// calm is a round of a plain kernel that takes 50 us, on an idle host.
func calm() round {
	return round{calls: 20, long: 50e3, fresh: 52e3, theirFresh: 105e3, theirAgain: 100e3, idle: 100e3,
		ask: 400e3, askAgain: 350e3, theirAsk: 400e3, theirAskAgain: 350e3, make: 3e6, theirMake: 3e6}
}

// TestDoubts is about recorded times: what a solution does in every round is
// held against it, what a busy host does in some is not.
func TestDoubts(t *testing.T) {
	t.Parallel()
	const passed, suspect, inconclusive = evaluator.Passed, evaluator.Suspect, evaluator.Inconclusive
	for name, c := range map[string]struct {
		change func(r *round, n int)
		want   evaluator.Status
		reason string
	}{
		"plain":                       {func(*round, int) {}, passed, ""},
		"cold for both":               {func(r *round, _ int) { r.fresh, r.theirFresh = 140e3, 280e3 }, passed, ""},
		"leaves out two of three":     {func(r *round, _ int) { r.long = 17e3 }, suspect, "with fresh inputs"},
		"leaves out nearly all":       {func(r *round, _ int) { r.long, r.fresh = 1, 20e3 }, suspect, "keeps results"},
		"slower with fresh by a half": {func(r *round, _ int) { r.fresh = 75e3 }, passed, ""},
		"a busy host, now and then":   {func(r *round, n int) { r.fresh += float64(n%3/2) * 9e6 }, passed, ""},
		"a busy host, mostly":         {func(r *round, n int) { r.fresh += float64(min(n%4, 1)) * 300e3; r.idle += float64(n%5) * 1e6 }, inconclusive, "with fresh inputs"},
		"a busy host, always":         {func(r *round, n int) { r.fresh += 100e3 + float64(n%5)*300e3; r.idle += float64(n%5) * 2e6 }, inconclusive, "with fresh inputs"},
		"computes when asked":         {func(r *round, _ int) { r.long, r.fresh, r.ask = 300, 300, 1400e3 }, suspect, "when they are asked for"},
		"is slow once more as well":   {func(r *round, _ int) { r.long, r.fresh, r.ask, r.askAgain = 300, 300, 1400e3, 1400e3 }, suspect, "when they are asked for"},
		"large outputs, slow folder":  {func(r *round, n int) { r.ask, r.theirAsk = 9e6+float64(n%2)*5e6, 9e6 }, passed, ""},
		"computes with the inputs":    {func(r *round, _ int) { r.long, r.fresh, r.make = 300, 300, 5e6 }, suspect, "when the inputs come"},
		"inputs without a processor":  {func(r *round, _ int) { r.long, r.fresh, r.make, r.makeQueued = 300, 300, 9e6, 5e6 }, inconclusive, "when the inputs come"},
		"inputs computed, a wait":     {func(r *round, _ int) { r.long, r.fresh, r.make, r.makeQueued = 300, 300, 9e6, 2e6 }, suspect, "when the inputs come"},
		"calls without a processor":   {func(r *round, _ int) { r.long, r.wallQueued = 17e3, 500e3 }, inconclusive, "with fresh inputs"},
		"outputs without a processor": {func(r *round, _ int) { r.long, r.fresh, r.ask, r.askQueued = 300, 300, 1400e3, 1e6 }, inconclusive, "asked for"},
		"a wait without a suspicion":  {func(r *round, _ int) { r.makeQueued, r.wallQueued, r.askQueued = 9e6, 9e6, 9e6 }, passed, ""},
		"workers of different kinds":  {func(r *round, _ int) { r.make, r.theirMake = 0, 0 }, passed, ""},
	} {
		var rounds []round
		for n := range freshRounds {
			r := calm()
			c.change(&r, n)
			rounds = append(rounds, r)
		}
		p := &trialProtocol{Measurement: &Measurement{}, rounds: rounds}
		d, status := p.suspicions()
		if status != c.want || !strings.Contains(d.reason, c.reason) {
			t.Errorf("%s: %s, %+v; want %s, %q", name, status, d, c.want, c.reason)
		}
	}
}

// TestTimerIsEvidence: a timer that disagrees with our clock in most blocks is a
// reason for suspicion, unless the reference's does so by chance as well.
func TestTimerIsEvidence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of   func(n int) evidence
		want evaluator.Status
	}{
		"plain":               {func(int) evidence { return evidence{1e6, 1.1e6, 0.95, 0} }, evaluator.Passed},
		"half":                {func(int) evidence { return evidence{5e5, 1e6, 1, 0} }, evaluator.Passed},
		"less than half":      {func(int) evidence { return evidence{4.9e5, 1e6, 1, 0} }, evaluator.Suspect},
		"more than half more": {func(int) evidence { return evidence{1.6e6, 1e6, 1, 0} }, evaluator.Suspect},
		"both wait":           {func(int) evidence { return evidence{3e5, 1e6, 0.3, 0} }, evaluator.Passed},
		"half of the blocks":  {func(n int) evidence { return evidence{1e5 + 9e5*float64(n%2), 1e6, 1, 0} }, evaluator.Passed},
		"a busy host":         {func(n int) evidence { return evidence{3e5, 1e6, 0.65 + 0.35*float64(n%3/2), 0} }, evaluator.Inconclusive},
		"without a processor": {func(int) evidence { return evidence{3e5, 1e6, 1, 5e5} }, evaluator.Inconclusive},
		"a wait among others": {func(int) evidence { return evidence{3e5, 1e6, 1, 2e5} }, evaluator.Suspect},
		"too short to tell":   {func(int) evidence { return evidence{10, -5, 1, 0} }, evaluator.Passed},
	} {
		var blocks []evidence
		for n := range 12 {
			blocks = append(blocks, c.of(n))
		}
		if d := lies(blocks); d.verdict() != c.want {
			t.Errorf("%s: %+v is %s, want %s", name, d, d.verdict(), c.want)
		}
	}
}

// TestShortfallsCount: what fresh calls take longer than is explained is added to
// what is reported, also where nothing is in doubt.
func TestShortfallsCount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*round)
		want   float64
	}{
		"plain":                   {func(*round) {}, 50e3},
		"leaves a quarter out":    {func(r *round) { r.fresh = 70e3 }, 60e3}, // all but a fifth
		"cold for both":           {func(r *round) { r.fresh, r.theirFresh = 66e3, 120e3 }, 50e3},
		"shorter on the contrary": {func(r *round) { r.fresh = 20e3 }, 50e3},
	} {
		r := calm()
		c.change(&r)
		p, s := valued(51e3, 51e3, 51e3)
		p.rounds = []round{r, r, r}
		p.value()
		p.settle()
		if got := s.timing.Values; len(got) != 3 || got[1] != c.want || len(p.Warnings) > 0 {
			t.Errorf("%s: %v, want %v; %q", name, got, c.want, p.Warnings)
		}
	}
}

// valued has slopes of a solution whose loop costs 1 us, and whose whole requests
// take 90 us a call.
func valued(slopes ...float64) (*trialProtocol, *side) {
	s := &side{name: "solution", timing: &Timing{Slope: [][]float64{slopes}}, overhead: 1e3}
	for range slopes {
		s.whole = append(s.whole, 90e3)
	}
	return &trialProtocol{Measurement: &Measurement{}, solution: s, reference: &side{timing: &Timing{}}}, s
}

// TestNoCallIsForNothing: slopes that are nothing but noise are no time of a call.
func TestNoCallIsForNothing(t *testing.T) {
	t.Parallel()
	for name, slopes := range map[string][]float64{
		"noise around nothing":  {-5e4, 6e4, -1e3, 2e3, 9e4, -8e4},
		"all negative":          {-1, -1, -1},
		"positive by its noise": {1e3, 9e4, 2e4, -9e4, 3e4, 5e4},
	} {
		p, s := valued(slopes...)
		if p.value(); stats.Median(s.timing.Values) != 90e3 || len(p.Warnings) != 1 {
			t.Errorf("%s: %v, %q", name, s.timing.Values, p.Warnings)
		}
	}
}
