package judge

import (
	"context"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate/policy"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// manyCells is how many take so much memory that a pass of the collector, and memory that comes anew, cost little beside it.
const manyCells = 10_000

// garbage is how much of the memory of many cells may be garbage, in percent: nearly all of the documents stays.
const garbage = 15

// JudgeFiles judges run documents, and those below folders, under the configuration's policy and
// baselines. Many cells set the collector to keep little garbage, from then on.
func JudgeFiles(ctx context.Context, e *measure.Env, o *measure.Options, paths []string, in report.Input) (Judged, error) {
	file, settled, err := e.Load(o)
	if err == nil {
		err = Accept(e, &settled, file, policy.Trigger{Event: policy.Desk})
	}
	if err != nil {
		return Judged{}, err
	}
	paths, expected, err := runFiles(o, file, paths)
	if err != nil {
		return Judged{}, err
	}
	if o.Baseline != "" && len(paths) > 1 {
		return Judged{}, exit.Usagef("--baseline goes with a single run: leave it out, and each host's own is used")
	}
	runs, refs, err := ReadRuns(ctx, e, o, file, paths)
	if err == nil {
		runs, refs, err = addAbsent(ctx, e, o, file, expected, runs, refs)
	}
	if err != nil {
		return Judged{}, err
	}
	for i := range refs {
		refs[i].release()
		refs[i].profile = runs[i].Context[bench.Profile]
	}
	if slices.ContainsFunc(runs, func(r *bench.Run) bool { return len(r.Results) > manyCells }) {
		debug.FreeOSMemory() // the texts and the file of the baseline: the verdicts, one large list, find no room between what is left of them
		debug.SetGCPercent(garbage)
	}
	in.Revision = runs[0].Revision
	return Judge(e, runs, refs, settled, in), nil
}

// ReadRuns reads runs and the baselines of their hosts, in pairs. Runs of one
// host are shards of one run.
func ReadRuns(ctx context.Context, e *measure.Env, o *measure.Options, file *config.File,
	paths []string) (runs []*bench.Run, refs []Reference, err error) {
	if runs, err = ReadHosts(ctx, e, o, file, paths); err != nil {
		return nil, nil, err
	}
	for _, run := range runs {
		ref, err := ReferenceFor(ctx, e, o, file, run.Host)
		if err != nil {
			return nil, nil, err
		}
		refs = append(refs, ref)
	}
	return runs, refs, nil
}

// ReadHosts reads runs, several of one host as one.
func ReadHosts(ctx context.Context, e *measure.Env, o *measure.Options, file *config.File, paths []string) (runs []*bench.Run, err error) {
	shards := map[string][]*bench.Run{}
	var labels []string
	for _, path := range paths {
		run, err := o.ReadRun(path)
		if err != nil {
			return nil, err
		}
		label := run.Host.Label
		if slices.ContainsFunc(shards[label], func(other *bench.Run) bool { return reflect.DeepEqual(other, run) }) {
			continue // downloaded twice
		}
		if shards[label] == nil {
			labels = append(labels, label)
		}
		shards[label] = append(shards[label], run)
	}
	for _, label := range labels {
		parts, again := newest(shards[label])
		run, err := bench.Merge(parts)
		if err != nil {
			return nil, fmt.Errorf("the %d runs of host %s do not make one: %w; give one run for each host, or all its shards",
				len(parts), text.OneLine(label), err)
		}
		run.Warnings = append(run.Warnings, again...)
		if missing := run.MissingShards(); len(missing) > 0 {
			run.Warnings = append(run.Warnings, missingShards(ctx, e, file, run, missing))
		}
		runs = append(runs, run)
	}
	warnOfHosts(runs, e.Now())
	return runs, nil
}

// warnOfHosts adds to runs what their hosts cannot be: two of one machine, and one whose
// clock is wrong.
func warnOfHosts(runs []*bench.Run, now time.Time) {
	for i, run := range runs {
		if why := run.Misdated(now); why != "" {
			run.Warnings = append(run.Warnings, why+": correct the clock of this host, and measure again")
		}
		for _, other := range runs[:i] {
			if run.Host.Same(other.Host.Fingerprint) {
				run.Warnings = append(run.Warnings,
					fmt.Sprintf("this is host %s under another label: give each host one label, or devices of its own",
						text.OneLine(other.Host.Label)))
			}
		}
	}
}
