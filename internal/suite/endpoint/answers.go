package endpoint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
	"github.com/accelgate/accelgate/internal/text"
)

// answers are what came back of a load, from one client or several, and what decides whether they count.
type answers struct {
	observations []latency.Observation
	mode         load.Mode
	capped       bool          // see [capped]
	minOKRate    float64       // share of requests that must be answered
	clientDelay  time.Duration // that the client may add
}

// answers are those of the load that was sent last.
func (m *measurement) answers() answers {
	return answers{observations: m.seen.observations, mode: m.body.Load.Mode, capped: m.capped(), minOKRate: m.body.MinOKRate,
		clientDelay: m.body.ClientDelay}
}

func (s *inputs) capped() bool { return capped(s.body.Load.Mode, s.body.Load.MaxInFlight) }

// capped reports whether a load is an open loop with a bound for requests at once.
func capped(mode load.Mode, maxInFlight int) bool { return mode != load.Closed && maxInFlight > 0 }

// caveat says why the numbers, or the high percentiles alone, may be those of the
// client.
func (a answers) caveat(result *bench.Result, out latency.Output, health load.Health) {
	client := latency.Client{
		Limit:            a.clientDelay,
		ScheduleDelayP50: out.ScheduleDelayP50,
		ScheduleDelayP99: out.ScheduleDelayP99,
		Capped:           a.capped,
		WakeDelayP50:     health.WakeDelayP50,
		WakeDelayP99:     health.WakeDelayP99,
		CPUShare:         health.CPUShare,
		GCPauseMax:       health.GCPauseMax,
	}
	result.Caveat = latency.ClientLimited(client)
	tail := latency.TailLimited(client)
	for i := range result.Samples {
		s := &result.Samples[i]
		if metric, _, _ := strings.Cut(s.Metric, modelMark); latency.Tail(metric) {
			s.Caveat = tail
		}
	}
	if !out.Saturated && load.OverSaturated(a.backlog()) { // which serving cannot measure
		result.Warnings = append(result.Warnings,
			"the server fell behind the schedule, so that the numbers depend on how long was measured: send less a second")
	}
}

// judge fails a cell whose requests were not answered: numbers of the
// few that were say nothing about a server that does not serve. incorrect is set if more
// answers were wrong than may be.
func (a answers) judge(result *bench.Result, gone bool) (incorrect bool) {
	ok := result.Counts[string(openai.OK)]
	all := a.count(load.Measure)
	cut := result.Counts[string(openai.Cancelled)]
	total := all - cut
	wrong := result.Counts[string(openai.Invalid)] + result.Counts[string(openai.PromptTruncated)]
	switch {
	case float64(wrong) > (1-a.minOKRate)*float64(all): // whatever else happened: failures of other causes may be measured again
		incorrect = true
		suite.Fail(result, bench.CauseOutput, fmt.Sprintf("%d of %d requests were answered: %s", ok, total, a.failures()))
	case gone:
		suite.Fail(result, bench.CauseCrash, fmt.Sprintf("the server went away after %s: %s", text.Plural(ok, "answer"), a.failures()))
	case ok == 0 && total == 0:
		suite.Fail(result, bench.CauseOutput, fmt.Sprintf("no request ended in the window; %s: %s", a.failures(), a.lessLoad()))
	case cut > total:
		suite.Fail(result, bench.CauseOutput,
			fmt.Sprintf("%d of %d requests were due in the window and not answered by its end: %s", cut, all, a.lessLoad()))
	case float64(ok) < a.minOKRate*float64(total):
		suite.Fail(result, bench.CauseOutput, fmt.Sprintf("%d of %d requests were answered: %s", ok, total, a.failures()))
	}
	return incorrect
}

// lessLoad is what to do about a load that the server did not get through.
func (a answers) lessLoad() string {
	if a.mode == load.Closed {
		return "measure for longer, or lengthen the drain (load.drain)"
	}
	return "lower the rate or lengthen the drain (load.rate, load.drain)"
}

// count counts the requests of a phase.
func (a answers) count(phase load.Phase) (n int) {
	for i := range a.observations {
		if a.observations[i].Phase == phase {
			n++
		}
	}
	return n
}

// backlog is what each answered request says of the server's.
func (a answers) backlog() (samples []load.Sample) {
	if a.mode == load.Closed {
		return nil // whose backlog is its number of slots
	}
	for i := range a.observations {
		if o := &a.observations[i]; o.Phase == load.Measure && o.Reply.Outcome == openai.OK && o.Reply.EOF > o.Due {
			samples = append(samples,
				load.Sample{Due: o.Due, Outstanding: o.Outstanding, Latency: cmp.Or(o.Reply.First, o.Reply.EOF) - o.Due})
		}
	}
	return samples
}

// failures sums up why requests of the window were not answered, the most frequent reason
// first, each with the words of one of them.
func (a answers) failures() string {
	count, words := map[openai.Outcome]int{}, map[openai.Outcome]string{}
	for i := range a.observations {
		o := &a.observations[i]
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
