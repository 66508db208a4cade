package worker

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A child that is Slurm's srun starts tasks on the nodes of a job, or as a job of its own. They descend from Slurm's
// daemons, so nothing of [tree] reaches them: they end by scancel. Of their standard output, only that of the first
// task counts.

const (
	srun      = "srun"
	stepName  = "--job-name=accelgate-"
	stepPause = 200 * time.Millisecond
	stepLimit = 30 * time.Second // for a controller that is busy
)

// asStep names the step that srun makes, and takes the output of its first task alone. Options of the user follow, and
// win. Other programs get their arguments as they are.
func asStep(args []string) []string {
	if filepath.Base(args[0]) != srun {
		return args
	}
	return slices.Concat(args[:1], []string{stepName + rand.Text(), "--output=0", "--error=all"}, args[1:])
}

// step is what srun has started; nil for other programs.
type step struct {
	name string
	env  []string // of srun
}

// stepOf returns the step of a child whose arguments asStep returned.
func stepOf(args, env []string) *step {
	if len(args) < 2 || filepath.Base(args[0]) != srun {
		return nil
	}
	name, ok := strings.CutPrefix(args[1], "--job-name=")
	if !ok || !strings.HasPrefix(args[1], stepName) {
		return nil
	}
	return &step{name, env}
}

// end kills all tasks of the step and waits until Slurm lists none, because what is measured next must not share the
// nodes with them.
func (s *step) end(limit time.Duration) error {
	if s == nil {
		return nil
	}
	for deadline := time.Now().Add(limit); ; time.Sleep(stepPause) {
		ids, err := s.ids()
		if err == nil && len(ids) == 0 {
			return nil
		}
		if err == nil {
			_, err = s.run(append([]string{"scancel", "--signal=KILL"}, ids...)...)
		}
		if time.Now().After(deadline) {
			if err == nil {
				err = fmt.Errorf("it is still there %v after it was killed", limit)
			}
			return fmt.Errorf("the tasks that srun started as %s: %w: end them with scancel", s.name, err)
		}
	}
}

// ids are those of the step in this job, or of the job that srun made.
func (s *step) ids() (ids []string, err error) {
	args := []string{"squeue", "--noheader", "--format=%i %j", "--name=" + s.name}
	if job := Getenv(s.env, "SLURM_JOB_ID"); job != "" {
		args = []string{"squeue", "--noheader", "--format=%i %j", "--steps", "--jobs=" + job}
	}
	out, err := s.run(args...)
	for line := range strings.Lines(out) {
		if id, name, _ := strings.Cut(strings.TrimSpace(line), " "); name == s.name {
			ids = append(ids, id)
		}
	}
	return ids, err
}

func (s *step) run(args ...string) (string, error) {
	r, err := (&Isolated{Environ: s.env}).Do(context.Background(), Request{Args: args, Timeout: stepLimit})
	if err == nil && !r.OK() {
		err = fmt.Errorf("%s: %s", args[0], r.Reason())
	}
	return string(r.Stdout), err
}
