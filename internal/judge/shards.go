package judge

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/measure/cluster"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// runFiles returns the files that arguments name; of a folder, every run.json below it. Where one is a folder, expected
// are the hosts that a batch system measures on: all of them must have left their runs.
func runFiles(o *measure.Options, file *config.File, arguments []string) (paths []string, expected []*config.Runner, err error) {
	folder := false
	for _, argument := range arguments {
		info, err := os.Stat(argument)
		if err != nil || !info.IsDir() {
			paths = append(paths, argument) // reading it reports what is wrong with it
			continue
		}
		folder = true
		if target, err := filepath.EvalSymlinks(argument); err == nil {
			argument = target // a link to a folder is not walked into
		}
		found, err := measure.FindRuns(argument, math.MaxInt)
		if err != nil {
			return nil, nil, exit.Usagef("%s: %w", argument, err)
		}
		paths = append(paths, found...)
	}
	for i := range file.Runners {
		if r := &file.Runners[i]; folder && r.RunsOn.OnCluster() && o.Measures(file, r.Host) {
			expected = append(expected, r)
		}
	}
	if len(paths)+len(expected) == 0 {
		return nil, nil, exit.Usagef("%s: no run.json below it: name the folder in which runs are kept", arguments[0])
	}
	return paths, expected, nil
}

// newest returns the last run of each shard of a batch system, where a job that was started again may have left two. The
// warnings name the others.
func newest(runs []*bench.Run) (kept []*bench.Run, warnings []string) {
	for _, run := range runs {
		i := slices.IndexFunc(kept, func(k *bench.Run) bool {
			jobs := run.Context[bench.BatchJob] != "" && k.Context[bench.BatchJob] != ""
			return jobs && len(run.Shards) == 1 && slices.Equal(k.Shards, run.Shards) && k.Revision == run.Revision
		})
		if i < 0 {
			kept = append(kept, run)
			continue
		}
		if !run.Started.Before(kept[i].Started) {
			kept[i], run = run, kept[i]
		}
		warnings = append(warnings, fmt.Sprintf("shard %s was measured twice: the run that started at %s counts, and not that of %s",
			run.Shards[0], kept[i].Started.Format("2006-01-02 15:04:05 MST"), run.Started.Format("15:04:05")))
	}
	return kept, warnings
}

// missingShards is the warning about shards that did not come, with the states of their jobs.
func missingShards(ctx context.Context, e *measure.Env, file *config.File, run *bench.Run, missing []string) string {
	system, ids := jobsOf(run)
	if i := slices.IndexFunc(file.Runners, func(r config.Runner) bool { return r.Host == run.Host.Label }); system == "" && i >= 0 {
		system = systemOf(&file.Runners[i])
	}
	const rest = "of this host are missing, so their cells are not judged: "
	if system == "" {
		return fmt.Sprintf("shards %s %sgive their run.json files, too", strings.Join(missing, ", "), rest)
	}
	states, trouble := jobStates(ctx, e, system, cluster.JobName(file.Name, run.Host.Label), ids)
	return "shards " + named(missing, states) + " " + rest + again(system, missing) + trouble
}

// systemOf is the batch system of a runner; "" if no batch system measures on it.
func systemOf(r *config.Runner) string {
	switch {
	case r.RunsOn.Slurm != nil:
		return cluster.Slurm
	case r.RunsOn.Kubernetes != nil:
		return cluster.Kubernetes
	}
	return ""
}

// jobsOf returns the batch system and the jobs that measured a run, as it records them.
func jobsOf(run *bench.Run) (system string, ids []string) {
	for job := range strings.FieldsSeq(run.Context[bench.BatchJob]) {
		if of, id, ok := strings.Cut(job, ":"); ok && (system == "" || of == system) && (of == cluster.Slurm || of == cluster.Kubernetes) {
			system, ids = of, append(ids, id)
		}
	}
	return system, ids
}

// jobStates queries a batch system. The trouble begins with what separates it from a message.
func jobStates(ctx context.Context, e *measure.Env, system, name string, ids []string) (cluster.States, string) {
	states, trouble := cluster.QueryStates(ctx, &worker.Isolated{Environ: e.Environ}, system, name, ids)
	if trouble != "" {
		trouble = "; the states of the jobs are not known: " + text.Line(trouble, 120)
	}
	return states, trouble
}

// maxNamed bounds the shards of one message.
const maxNamed = 20

// named lists shards with the states of their jobs: "3/8 (job 12_3: CANCELLED), 5/8".
func named(shards []string, states cluster.States) string {
	parts := make([]string, 0, len(shards))
	for _, name := range shards {
		s, err := matrix.ParseShard(name)
		if state, known := states[s.Index]; err == nil && known {
			name += fmt.Sprintf(" (job %s: %s)", state.Job, state.What)
		}
		parts = append(parts, name)
	}
	return strings.Join(text.First(parts, maxNamed), ", ")
}

// again is the next step for jobs that left nothing.
func again(system string, missing []string) string {
	var tasks []string
	for _, shard := range missing {
		k, _, _ := strings.Cut(shard, "/")
		tasks = append(tasks, k)
	}
	if system == cluster.Slurm {
		return "submit them again: sbatch --wait --array=" + strings.Join(tasks, ",") + " FILE --resume"
	}
	return "delete the Job and create it again, with kubectl replace --force -f FILE"
}

// listed are the states of all jobs of a host, in parentheses; "" if no state is known.
func listed(states cluster.States) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(states)) {
		parts = append(parts, fmt.Sprintf("job %s: %s", states[k].Job, states[k].What))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(text.First(parts, maxNamed), ", ") + ")"
}

// addAbsent adds an empty run, which the gate cannot pass, for each host that left no run.
func addAbsent(ctx context.Context, e *measure.Env, o *measure.Options, file *config.File, expected []*config.Runner,
	runs []*bench.Run, refs []Reference) ([]*bench.Run, []Reference, error) {
	for _, r := range expected {
		if slices.ContainsFunc(runs, func(run *bench.Run) bool { return run.Host.Label == r.Host }) {
			continue
		}
		host := bench.Host{Label: r.Host}
		ref, err := ReferenceFor(ctx, e, o, file, host)
		if err != nil {
			return nil, nil, err
		}
		system := systemOf(r)
		states, trouble := jobStates(ctx, e, system, cluster.JobName(file.Name, r.Host), nil)
		run := &bench.Run{Schema: bench.RunSchema, Host: host, Started: e.Now()}
		run.Warnings = []string{
			fmt.Sprintf("host %s left no run.json%s: submit its jobs, or name the files to judge in place of their folder%s",
				text.OneLine(r.Host), listed(states), trouble),
		}
		if len(runs) > 0 {
			run.Revision = runs[0].Revision
		}
		runs, refs = append(runs, run), append(refs, ref)
	}
	return runs, refs, nil
}
