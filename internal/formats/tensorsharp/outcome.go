package tensorsharp

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// The exit codes that TensorSharp.TestMatrix makes up.
const (
	exitTimeout  = 124
	exitNotBegun = -1
)

// result turns what a file says into our words. The zeros that TensorSharp
// writes for what was not measured are no samples.
func (r *result) result() bench.Result {
	outcome, cause, reason := r.outcome()
	b := bench.Result{
		Cell: bench.Cell{Raw: r.CaseID}, Outcome: outcome, Cause: cause, Reason: text.Cut(reason, maxText),
		Output: text.Cut(cmp.Or(r.Output.AssistantText, r.OutputPreview), maxText), WallMS: max(r.TotalWallMS, 0),
	}
	if outcome != bench.Passed {
		b.Log = text.Tail(r.StdoutTail, maxText)
	}
	for _, s := range []struct {
		metric string
		value  float64
	}{{"prefill_tps", r.PrefillTPS}, {"decode_tps", r.DecodeTPS}, {"model_load_ms", r.ModelLoadMS}} {
		if s.value > 0 && outcome != bench.Skipped {
			b.Samples = append(b.Samples, bench.Sample{Metric: s.metric, Values: []float64{s.value}})
		}
	}
	return b
}

// outcome takes the worst where a file contradicts itself: ok counts only
// with exit code 0 and an answer that was not wrong.
func (r *result) outcome() (bench.Outcome, bench.Cause, string) {
	ok := r.OK != nil && *r.OK
	switch {
	case r.Skipped:
		cause := bench.CauseCapacity
		if strings.HasPrefix(r.SkipReason, "could not build args") { // a prompt or media file is missing
			cause = bench.CauseInput
		}
		return bench.Skipped, cause, cmp.Or(r.SkipReason, "TensorSharp.TestMatrix does not state why")
	case r.ExitCode == exitTimeout:
		return bench.Timeout, bench.CauseTimeout, "was stopped at its deadline"
	case r.ExitCode == exitNotBegun:
		return bench.Failed, bench.CauseStart, cmp.Or(r.Error, "could not be started")
	case crashed(r.ExitCode):
		return bench.Failed, bench.CauseCrash, cmp.Or(r.Error, fmt.Sprintf("exit %d", r.ExitCode))
	case r.ExitCode != 0:
		return bench.Failed, bench.CauseExit, cmp.Or(r.Error, fmt.Sprintf("exit %d", r.ExitCode))
	case r.CorrectnessOK != nil && !*r.CorrectnessOK:
		return bench.Incorrect, bench.CauseAnswer, cmp.Or(r.CorrectnessError, r.Error, "the answer is wrong")
	case !ok:
		return bench.Failed, bench.CauseOutput, cmp.Or(r.Error, "TensorSharp.TestMatrix does not state why")
	}
	return bench.Passed, "", ""
}

// crashed reports whether .NET's exit code stands for a signal, 128 and its
// number, or for an exception of Windows, whose codes are negative.
func crashed(code int) bool { return code > 128 && code <= 128+64 || code < exitNotBegun }
