// Package actions implements the protocol between a step and the GitHub Actions
// runner: inputs, outputs, the job summary, annotations, groups and the event.
// It is the only importer of go-githubactions, and it is not a client of
// GitHub's API (package github is).
//
// The runner reads every line that a step prints, on standard output and on
// standard error alike, and obeys those that look like commands. So nothing
// that a measured program, a pull request or a file said may be printed except
// through [Action.Guard] or, on standard error, through [Defang].
//
// Facts about the runner are taken from the source of actions/runner, and each
// is noted with its file where it is relied on.
package actions

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/sethvargo/go-githubactions"

	"github.com/accelgate/accelgate/internal/text"
)

// Options describes how the runner is reached. Both fields are required.
type Options struct {
	// Getenv looks up the environment of the step.
	Getenv func(string) string
	// Stdout is the standard output of the step, at the start of a line.
	// Only the Action may write to it.
	Stdout io.Writer
}

// Action is one step as the runner sees it. Its methods may be called by
// several goroutines at once. None of them panics on what it is given; what
// cannot be delivered to the runner is returned as an error.
type Action struct {
	getenv func(string) string
	lib    *githubactions.Action

	mu     sync.Mutex // guards everything below and the order of output
	out    *lineWriter
	guards int    // open guards
	token  string // resumes commands; set while guards > 0
}

// New returns the Action of the step.
func New(opts Options) *Action {
	out := &lineWriter{w: opts.Stdout, start: true}
	return &Action{
		getenv: opts.Getenv,
		out:    out,
		lib:    githubactions.New(githubactions.WithWriter(out), githubactions.WithGetenv(opts.Getenv)),
	}
}

// Input returns the named input of the action without surrounding blanks, or
// "" if it is not set. A composite action must pass its inputs on as INPUT_*
// itself; the runner does it only for container and JavaScript actions.
func (a *Action) Input(name string) string { return a.lib.GetInput(name) }

// Bool returns the named input as a boolean, or unset if the input is empty.
// It accepts what YAML 1.2 calls a boolean, as @actions/core does.
func (a *Action) Bool(name string, unset bool) (bool, error) {
	switch s := a.Input(name); s {
	case "":
		return unset, nil
	case "true", "True", "TRUE":
		return true, nil
	case "false", "False", "FALSE":
		return false, nil
	default:
		return false, fmt.Errorf("input %q is %s; write true or false", name, quote(s))
	}
}

// Group starts a foldable group of lines in the log. Groups do not nest; the
// next one ends the one before it.
func (a *Action) Group(title string) error {
	return a.command("start log group", func() { a.lib.Group(text.Line(title, maxTitle)) })
}

// EndGroup ends the group.
func (a *Action) EndGroup() error {
	return a.command("end log group", a.lib.EndGroup)
}

// command lets issue print one command, outside of any guard.
func (a *Action) command(what string, issue func()) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.pause()
	if err == nil {
		err = protect(issue)
	}
	if err = errors.Join(err, a.resume()); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// protect turns the panics by which go-githubactions reports a failed write
// into errors.
func protect(issue func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case runtime.Error:
			panic(r) // a mistake in a program, not a failed write
		case error:
			err = r
		default:
			panic(r)
		}
	}()
	issue()
	return nil
}
