package cluster

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/worker"
)

// querySlurm runs sacct and, where the cluster keeps no accounts, scontrol, which forgets a job some minutes after its end.
func querySlurm(ctx context.Context, w worker.Worker, name string, ids []string) (States, string) {
	out, trouble, ok := answer(ctx, w, "sacct", "--allocations", "--noheader", "--parsable2", "--starttime=now-30days",
		"--format=JobID,State,ExitCode", "--name="+name)
	if of := slurmAccounts(string(out), ids); ok && len(of) > 0 {
		return of, ""
	}
	if out, more, ok := answer(ctx, w, "scontrol", "--oneliner", "show", "job"); ok {
		return slurmJobs(string(out), name, ids), ""
	} else if more != "" {
		trouble = more
	}
	return nil, trouble
}

// slurmAccounts reads sacct's lines: "123_4|CANCELLED by 0|0:15", where jobs that wait are "123_[5-8%2]".
func slurmAccounts(out string, ids []string) States {
	of := States{}
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if len(fields) != 3 {
			continue
		}
		array, tasks, _ := strings.Cut(fields[0], "_")
		what, _, _ := strings.Cut(fields[1], " ") // "CANCELLED by 0"
		if code := word(fields[2]); what == "FAILED" && code != "" {
			what += " (exit code " + code + ")"
		}
		of.add(array, strings.Trim(tasks, "[]"), what, ids)
	}
	return of
}

// slurmJobs reads the lines of "scontrol --oneliner show job".
func slurmJobs(out, name string, ids []string) States {
	of := States{}
	for line := range strings.Lines(out) {
		fields := map[string]string{}
		for field := range strings.FieldsSeq(line) {
			key, value, _ := strings.Cut(field, "=")
			if fields[key] == "" { // later ones are the user's, such as Comment
				fields[key] = value
			}
		}
		if fields["JobName"] != name {
			continue
		}
		what := fields["JobState"]
		switch reason := word(fields["Reason"]); {
		case what == "FAILED" && word(fields["ExitCode"]) != "":
			what += " (exit code " + fields["ExitCode"] + ")"
		case reason != "" && reason != "None":
			what += " (" + reason + ")"
		}
		of.add(fields["ArrayJobId"], fields["ArrayTaskId"], what, ids)
	}
	return of
}

// add notes the state of tasks, written as "4", "5-8%2" or "1,3,5-8".
func (s States) add(array, tasks, what string, ids []string) {
	number, err := strconv.ParseUint(array, 10, 32)
	what = cleanState(what)
	if err != nil || what == "" || len(ids) > 0 && !slices.Contains(ids, array) {
		return
	}
	tasks, _, _ = strings.Cut(tasks, "%")
	for part := range strings.SplitSeq(tasks, ",") {
		first, last, span := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		to := from
		if err == nil && span {
			to, err = strconv.Atoi(last)
		}
		if err != nil || from < 1 || to > matrix.MaxShards {
			continue
		}
		for k := from; k <= to; k++ {
			s.put(k, State{Job: array + "_" + strconv.Itoa(k), What: what, array: number})
		}
	}
}

// cleanState keeps what is words in capitals with a reason in parentheses.
func cleanState(what string) string {
	var parts []string
	for part := range strings.FieldsSeq(what) {
		if w := word(part); w != "" {
			parts = append(parts, w)
		}
	}
	return strings.Join(parts, " ")
}
