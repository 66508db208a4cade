package bisect

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/worktree"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// What git bisect run understands of exit codes:
// https://git-scm.com/docs/git-bisect#_bisect_run
const (
	stepGood  = 0
	stepBad   = 1
	stepSkip  = 125
	StepAbort = 128 // and above
)

// step is what became of one commit.
type step struct {
	Commit   string           `json:"commit"`
	Answer   int              `json:"answer"` // stepGood, stepBad or stepSkip
	Reason   string           `json:"reason,omitempty"`
	Evidence *detect.Evidence `json:"evidence,omitempty"`
}

// Step builds and judges what git has checked out, and returns the exit
// code that git bisect run asks for.
func Step(ctx context.Context, e *measure.Env, path string) (int, error) {
	b, err := loadBisection(path)
	if err != nil {
		return 0, fmt.Errorf("%s is not of accelgate bisect: %w: type 'accelgate bisect'", path, err)
	}
	r := &worktree.Repository{Worker: &worker.Isolated{Environ: e.Environ}, Dir: b.HeadDir, Now: e.Now}
	s := step{}
	if s.Commit, err = r.Git(ctx, b.HeadDir, "rev-parse", "HEAD"); err != nil {
		return 0, err
	}
	end := e.Progress.Begin("build and measure " + measure.ShortRevision(s.Commit))
	said, err := judgeStep(ctx, e, b, r.Worker, &s)
	end()
	if err != nil {
		return 0, err
	}
	if err := r.Tidy(ctx, b.HeadDir); err != nil {
		return 0, err
	}
	fmt.Fprintf(e.Stdout, "accelgate: %s: %s\n", measure.ShortRevision(s.Commit), said)
	return s.Answer, appendStep(b.stepsPath(), &s)
}

// judgeStep fills in the answer and says it for people.
func judgeStep(ctx context.Context, env *measure.Env, b *bisection, w worker.Worker, s *step) (said string, err error) {
	skip := func(err error) (string, error) {
		var u unusable
		if !errors.As(err, &u) || ctx.Err() != nil {
			return "", err
		}
		s.Answer, s.Reason = stepSkip, text.OneLine(u.Error())
		return "skipped: " + s.Reason, nil
	}
	if err := b.build(ctx, w, b.HeadDir); err != nil {
		return skip(err)
	}
	t, err := newPairRun(ctx, env, b)
	if err != nil {
		return skip(err)
	}
	defer t.close()
	e, err := t.judge(ctx, detect.Options{MinEffect: b.Limit, Tolerance: b.Limit}, b.Attempts)
	if err != nil {
		return skip(err)
	}
	s.Evidence = &e
	s.Answer, s.Reason = answerOf(e)
	return t.change(&e) + ": " + s.Reason, nil
}

// answerOf returns what evidence means for git.
func answerOf(e detect.Evidence) (answer int, reason string) {
	switch {
	case e.Verdict == detect.Regressed:
		return stepBad, "slower"
	case decided(e.Verdict):
		return stepGood, "not slower"
	}
	return stepSkip, "skipped, because it stays open: " + e.Reason
}

func appendStep(path string, s *step) error {
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("note the step: %w: make the folder writable", err)
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// readSteps returns what became of each commit.
func readSteps(path string) (map[string]step, error) {
	steps := map[string]step{}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return steps, nil // there was nothing between the two commits
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, measure.MaxConfig))
	for lines.Scan() {
		var s step
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		steps[s.Commit] = s
	}
	return steps, lines.Err()
}

// follow passes on what git and the steps print, until they have ended.
func follow(ctx context.Context, w io.Writer, process *worker.Process) {
	for {
		select {
		case line, ok := <-process.Lines():
			if !ok {
				return
			}
			if text := strings.TrimRight(text.Clean(string(line.Text)), " "); text != "" {
				fmt.Fprintln(w, text)
			}
		case <-ctx.Done():
			return
		}
	}
}
