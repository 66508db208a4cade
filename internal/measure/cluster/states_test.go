package cluster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// what are the states alone, in words.
func what(of States) map[int]string {
	words := map[int]string{}
	for shard, state := range of {
		words[shard] = state.Job + " " + state.What
	}
	return words
}

// TestSlurmAccounts: the newest array counts, jobs that wait are listed together, and other lines are left out.
func TestSlurmAccounts(t *testing.T) {
	out := "40_1|COMPLETED|0:0\n41_1|COMPLETED|0:0\n41_2|FAILED|2:0\n41_3|CANCELLED by 1000|0:15\n41_[5-6,8%2]|PENDING|0:0\n" +
		"41_0|FAILED|1:0\n41_9999999|FAILED|1:0\nx_1|FAILED|1:0\n41_4|\x1b[31m|0:0\nsacct: error\n42_1|TIMEOUT|0:0\n"
	want := map[int]string{1: "42_1 TIMEOUT", 2: "41_2 FAILED (exit code 2:0)", 3: "41_3 CANCELLED", 5: "41_5 PENDING", 6: "41_6 PENDING", 8: "41_8 PENDING"}
	if diff := cmp.Diff(want, what(slurmAccounts(out, nil))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[int]string{1: "40_1 COMPLETED"}, what(slurmAccounts(out, []string{"40"}))); diff != "" {
		t.Errorf("with the id of an array:\n%s", diff)
	}
}

// TestSlurmJobs reads what Slurm 22.05 prints.
func TestSlurmJobs(t *testing.T) {
	line := func(state, reason, task, name string) string {
		return "JobId=9 ArrayJobId=41 ArrayTaskId=" + task + " JobName=" + name + " UserId=u(1000) JobState=" + state + " Reason=" + reason +
			" Dependency=(null) Restarts=0 ExitCode=3:0 RunTime=00:00:01 TresPerNode=gres:gpu:1\n"
	}
	out := line("PENDING", "Resources", "3-4", "mine") + line("FAILED", "NonZeroExitCode", "1", "mine") + line("COMPLETED", "None", "2", "mine") + line("FAILED", "None", "7", "other")
	want := map[int]string{1: "41_1 FAILED (exit code 3:0)", 2: "41_2 COMPLETED", 3: "41_3 PENDING (Resources)", 4: "41_4 PENDING (Resources)"}
	if diff := cmp.Diff(want, what(slurmJobs(out, "mine", nil))); diff != "" {
		t.Error(diff)
	}
}

func TestKubernetesPods(t *testing.T) {
	pod := func(name, at, index, status string) string {
		return `{"metadata": {"name": "` + name + `", "creationTimestamp": "` + at + `", "labels": {"batch.kubernetes.io/controller-uid": "u"}, "annotations": {"batch.kubernetes.io/job-completion-index": "` +
			index + `"}}, "status": ` + status + `}`
	}
	list := `{"items": [` + strings.Join([]string{
		pod("a-1", "2026-01-01T00:00:00Z", "0", `{"phase": "Succeeded"}`),
		pod("b-1", "2026-01-01T00:00:00Z", "1", `{"phase": "Pending"}`),
		pod("b-2", "2026-01-01T00:01:00Z", "1", `{"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}]}`),
		pod("c-1", "2026-01-01T00:00:00Z", "2", `{"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]}`),
		pod("d-1", "2026-01-01T00:00:00Z", "3", `{"phase": "Failed", "reason": "Evicted"}`),
		pod("e-1", "2026-01-01T00:00:00Z", "-1", `{"phase": "Failed"}`),
	}, ",") + `]}`
	of, err := kubernetesPods([]byte(list), []string{"u"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]string{1: "a-1 Succeeded", 2: "b-2 Failed (OOMKilled, exit code 137)", 3: "c-1 Pending (ImagePullBackOff)", 4: "d-1 Failed (Evicted)"}
	if diff := cmp.Diff(want, what(of)); diff != "" {
		t.Error(diff)
	}
	if of, err := kubernetesPods([]byte(list), []string{"another"}); err != nil || len(of) > 0 {
		t.Errorf("pods of another Job: %v, %v", of, err)
	}
}

// FuzzStates: what tools print ends in a message, so nothing of it may be more than plain words.
func FuzzStates(f *testing.F) {
	f.Add("41_[2-3%1]|CANCELLED by 1|0:0\n")
	f.Add("JobId=9 ArrayJobId=41 ArrayTaskId=1 JobName=n JobState=FAILED Reason=None ExitCode=3:0\n")
	f.Add(`{"items": [{"metadata": {"name": "a", "annotations": {"batch.kubernetes.io/job-completion-index": "0"}}, "status": {"phase": "Failed"}}]}`)
	f.Fuzz(func(t *testing.T, out string) {
		pods, _ := kubernetesPods([]byte(out), nil)
		for _, of := range []States{slurmAccounts(out, nil), slurmJobs(out, "n", nil), pods} {
			for shard, state := range of {
				if shard < 1 || strings.ContainsFunc(state.Job+state.What, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune("`<>[]\"'\\", r) }) {
					t.Errorf("shard %d: %q, %q", shard, state.Job, state.What)
				}
			}
		}
	})
}
