package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/worker"
)

func TestHere(t *testing.T) {
	of := func(vars map[string]string) *Job { return Here(func(name string) string { return vars[name] }) }
	job := of(map[string]string{"SLURM_JOB_ID": "9", "SLURM_ARRAY_JOB_ID": "7", "SLURMD_NODENAME": "n1", "SLURM_JOB_NUM_NODES": "4"})
	if job == nil || job.System != Slurm || job.ID != "7" || job.Nodes != 4 || !job.Allocates {
		t.Errorf("a job of Slurm: %+v", job)
	}
	if job := of(map[string]string{"SLURM_JOB_ID": "9"}); job != nil {
		t.Errorf("a shell that holds an allocation is no job: %+v", job)
	}
	job = of(map[string]string{"KUBERNETES_SERVICE_HOST": "10.0.0.1", "JOB_COMPLETION_INDEX": "0", "JOB_UID": "u"})
	if job == nil || job.System != Kubernetes || job.ID != "u" || job.Allocates {
		t.Errorf("a pod: %+v", job)
	}
	if job := of(map[string]string{"KUBERNETES_SERVICE_HOST": "10.0.0.1"}); job != nil {
		t.Errorf("a pod of a runner is no job: %+v", job)
	}
}

// answering is a worker whose every program prints a text.
type answering string

func (a answering) Do(context.Context, worker.Request) (worker.Response, error) {
	return worker.Response{End: worker.Exited, Stdout: []byte(a)}, nil
}

func (answering) Close() error { return nil }

func TestLeft(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	job := &Job{System: Slurm, end: "1000090"}
	if left, ok := job.Left(t.Context(), answering(""), now); !ok || left != 90*time.Second {
		t.Errorf("by the environment: %v, %v", left, ok)
	}
	for text, want := range map[string]time.Duration{
		"59:30\n": 59*time.Minute + 30*time.Second, "2:00:01": 2*time.Hour + time.Second, "1-00:10:00": 24*time.Hour + 10*time.Minute,
		"UNLIMITED": -1, "INVALID": -1, "": -1, "1": -1, "1-": -1, "a:b": -1, "99999999999:1": -1,
	} {
		left, ok := (&Job{System: Slurm}).Left(t.Context(), answering(text), now)
		if ok != (want >= 0) || ok && left != want {
			t.Errorf("squeue says %q: %v, %v", text, left, ok)
		}
	}
	if _, ok := (&Job{System: Kubernetes}).Left(t.Context(), answering("1:00"), now); ok {
		t.Error("a pod has no tool to ask")
	}
}
