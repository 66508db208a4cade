// Package prepare runs what surrounds measuring: builds of a checkout, steps before and
// after cells, and services that cells use. It judges nothing: it returns why something
// could not be prepared. Children run by package worker, so their environment is
// scrubbed, they have deadlines, and nothing of them is left behind.
package prepare

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// The bounds of steps that the configuration does not bound.
const (
	defaultBuildTimeout = time.Hour
	defaultStepTimeout  = 10 * time.Minute
	defaultReady        = 60 * time.Second
)

// maxLog is the size in bytes from which a log keeps its beginning and its end only.
const maxLog = 2 << 20

// Checkout is the folder of one side's configuration, and what its children get.
type Checkout struct {
	Dir     string              // absolute
	Logs    string              // folder of the logs
	What    string              // "the code under test", or "the base"
	Worker  worker.Worker       // one process per request
	Environ []string            // of this process
	Hide    func(string) string // takes secrets out of logs and reasons
	Say     func(string)        // gets a line about what is done; may be called by several goroutines
	Now     func() time.Time
}

// logName is the name of a step's log, and that of a copy which the next run of the step does
// not replace, where it failed; "" keeps none.
type logName struct{ log, failed string }

// run runs a step and keeps its log. The reason is "" if it succeeded. An error means that
// ctx was done, or that something of it cannot be ended.
func (c *Checkout) run(ctx context.Context, step *config.Step, name logName, limit time.Duration,
	env ...string) (reason string, err error) {
	response, err := c.Worker.Do(ctx,
		worker.Request{Args: step.Command, Dir: c.path(step.Dir), Env: append(suite.Entries(step.Env), env...),
			Timeout: cmp.Or(step.Timeout, limit), Transcript: maxLog})
	path := c.keep(name.log, response.Transcript)
	if err != nil || response.OK() {
		return "", err
	}
	if name.failed != "" {
		path = c.keep(name.failed, response.Transcript)
	}
	return c.why(step.Command, response, path), nil
}

// path resolves a path of the configuration.
func (c *Checkout) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.Dir, name)
}

// keep writes a log and returns its path; "" where it cannot be written.
func (c *Checkout) keep(name, log string) string {
	path := filepath.Join(c.Logs, name)
	if atomicfile.MkdirAll(filepath.Dir(path)) != nil || atomicfile.Write(path, []byte(c.Hide(log))) != nil {
		return ""
	}
	return path
}

// why returns how a command failed: what it is, how it ended, the line of its output that
// says why, and where all of the output is.
func (c *Checkout) why(args []string, response worker.Response, log string) string {
	reason := quoted(args) + ": " + response.Reason()
	if line := c.meaningful(response); line != "" {
		reason += ": " + line
	}
	if log != "" {
		reason += "; see " + log
	}
	return reason
}

// meaningful is the line of a command's output that says why it ended.
func (c *Checkout) meaningful(response worker.Response) string {
	line := text.Meaningful(strings.Split(response.Log, "\n"))
	if line == "" {
		return ""
	}
	return text.Clip(text.OneLine(c.Hide(line)), maxLine)
}

const (
	maxLine    = 300
	maxCommand = 120
)

// quoted is a command as a message shows it.
func quoted(args []string) string {
	return text.Quote(strings.Join(args, " "), maxCommand)
}
