package scoring

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// Command measures tasks as "accelgate kernels run" does, in a child process of its
// own: that one leases the devices, has the solution compute in another process, and
// is ended with all that it started when the task takes too long.
type Command struct {
	Executable string
	Args       []string // of kernels run, beyond those about the task
	Timeout    time.Duration
	Worker     *worker.Isolated
}

// maxRun is how much a run's document may have.
const maxRun = 64 << 20

// NewCommand returns a command whose children get the environment without its secrets.
func NewCommand(executable string, args, environ []string, timeout time.Duration) *Command {
	return &Command{executable, args, timeout, &worker.Isolated{Environ: environ, MaxStdout: maxRun}}
}

// Score implements [Options.Score]. The error says why cases were not measured, as far
// as it is known.
func (c *Command) Score(ctx context.Context, job Job) error {
	args := append([]string{c.Executable, "kernels", "run", "--local", job.Data, "--out", job.Out, "--json"}, c.Args...)
	if job.Lane != "" {
		args = append(args, "--devices", job.Lane)
	}
	for _, tool := range job.Tools {
		args = append(args, "--profile="+tool) // one argument, whatever a task's file holds
	}
	response, err := c.Worker.Do(ctx, worker.Request{Args: args, Timeout: c.Timeout})
	if err != nil {
		return err
	}
	if why := reasons(response.Stdout); why != "" {
		return errors.New(why)
	}
	switch {
	case response.End == worker.TimedOut:
		return fmt.Errorf("it took more than %v: submit fewer workloads, or raise --task-timeout", c.Timeout)
	case response.End != worker.Exited || response.ExitCode > 1:
		return fmt.Errorf("%s: %s", cmp.Or(response.Reason(), "it ended"),
			text.Tail(strings.TrimSpace(text.Clean(string(response.Stderr))), maxReason/2))
	}
	return nil
}

// reasons are those of the cases that were not measured, each once.
func reasons(run []byte) string {
	var document struct {
		Results []struct {
			Outcome string `json:"outcome"`
			Reason  string `json:"reason"`
		} `json:"results"`
	}
	if json.Unmarshal(run, &document) != nil {
		return ""
	}
	var list []string
	seen := map[string]bool{}
	for _, r := range document.Results {
		if r.Outcome == "skipped" && !seen[r.Reason] && len(list) < 5 {
			seen[r.Reason] = true
			list = append(list, r.Reason)
		}
	}
	return strings.Join(list, "; ")
}
