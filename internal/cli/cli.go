// Package cli is the command line of accelgate: one file per command, the
// table of suite kinds, and all wiring. It is the only reader
// of arguments, environment and clock; what the packages below need of them
// are parameters.
package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/github/actions"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/measure/progress"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/terminal"
)

// Command is one invocation of accelgate with what it takes from the process
// and tests replace; children inherit the process's own environment, scrubbed.
// All fields up to Now are required. Stdout gets results only, Stderr what is
// for people to follow.
type Command struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Now            func() time.Time
	// Sleep waits between requests to GitHub, and Transport sends them; nil means a timer
	// and the network.
	Sleep     func(context.Context, time.Duration) error
	Transport http.RoundTripper

	// Root is where the folder sys of this host is; "" is "/".
	Root string

	running *cobra.Command // nil before the arguments are read
	whole   *cobra.Command // the program with all commands, made when it is first needed

	quiet, verbose bool
	shown          *progress.Display // made when it is first needed
	runner         io.Writer         // standard error as GitHub's runner reads it; nil elsewhere
}

// env is what measuring takes from the command.
func (c *Command) env() *measure.Env {
	if c.shown == nil {
		c.shown = c.display()
	}
	return &measure.Env{
		Stdout:   c.Stdout,
		Stderr:   c.shown,
		Progress: c.shown,
		Getenv:   c.Getenv,
		Now:      c.Now,
		Environ:  os.Environ(),
		Kinds:    kinds,
		Carry:    c.carry,
		Root:     c.Root,
	}
}

// display shows progress on standard error: a status line on a terminal that a person
// watches, lines in a log.
func (c *Command) display() *progress.Display {
	t := terminal.Of(c.Stderr, c.Getenv)
	return progress.New(progress.Options{Out: c.Stderr, Live: t.Over && c.Getenv("CI") == "", Each: c.verbose, Quiet: c.quiet,
		Groups: c.runner, Columns: t.Columns, Now: c.Now})
}

// columns is the width of the terminal behind standard output; 0 for a file.
func (c *Command) columns() int { return terminal.Of(c.Stdout, c.Getenv).Columns }

// warnAll prints warnings for people.
func (c *Command) warnAll(warnings []string) { c.env().WarnAll(warnings) }

// Main runs the command with the arguments that follow the program's name and
// returns the exit code.
func (c *Command) Main(ctx context.Context, args []string) int {
	if c.Getenv("GITHUB_ACTIONS") == "true" {
		c = c.guarded(len(args) > 0 && args[0] == "action")
	}
	var code int
	root := c.root(&code, args...)
	root.SetArgs(args)
	root.SetIn(c.Stdin)
	root.SetErr(c.Stderr)
	err := root.ExecuteContext(ctx)
	if c.shown != nil {
		c.shown.Close()
	}
	if err != nil {
		c.complain(err)
		return exit.Code(err)
	}
	return code
}

// guarded returns c with streams on which nothing is a command to GitHub's
// runner: what is printed quotes names and output that strangers chose. The
// action issues commands itself and guards its own standard output.
func (c *Command) guarded(action bool) *Command {
	g := *c
	g.runner = c.Stderr
	g.Stderr = actions.Defang(c.Stderr)
	if !action {
		g.Stdout = actions.Defang(c.Stdout)
	}
	return &g
}

// complain prints an error for people: each line names the program,
// so that it differs from the output of measured programs.
func (c *Command) complain(err error) {
	for line := range strings.SplitSeq(strings.TrimRight(err.Error(), "\n"), "\n") {
		fmt.Fprintf(c.Stderr, "accelgate: %s\n", text.Clean(c.carry(line)))
	}
}

const about = `accelgate gates pull requests on self-hosted accelerator runners: is the
answer still right, is it still as fast, on this host?

  accelgate init                             write accelgate.yaml and the workflow for this repository
  accelgate doctor                           what is wrong with this host, repository and workflow
  accelgate run                              measure, compare with the baseline, report
  accelgate plan                             what would be measured: cells, shards, the workflow's matrix
  accelgate baseline update --reason TEXT    record this host's baseline
  accelgate report .accelgate/run.json       judge and print a finished run again
  accelgate explain CELL                     why a cell of the last run got its verdicts
  accelgate list                             suites, cells, hosts and baselines
  accelgate history runs/                    between which commits the history became slower or faster
  accelgate site --out public                the history as static pages, with a badge and a feed
  accelgate calibrate                        the noise of every cell, and what its gate can see
  accelgate judge cells.jsonl                judge cells that another tool measured, by the same statistics
  accelgate bisect --good REV --only CELL    which commit made a cell slower
  accelgate selftest                         prove that this gate can fail
  accelgate bench run SUITE                  load an OpenAI-compatible endpoint; see also bench merge, diff, sign
  accelgate cases lint FOLDER                model cases: check their files; see also cases replay, cases refresh
  accelgate kernels evaluate                 kernels: judge saved outputs; see also kernels run, kernels lint
  accelgate analyze packing                  batch packing against the bound; see also analyze fidelity
  accelgate auto-baseline                    model cases: run each twice and compare

Exit codes: 0 passed, 1 the gate failed, 2 wrong usage or configuration,
3 could not measure.`

// root is the whole program, for arguments that name a command only as much of it as runs.
func (c *Command) root(code *int, args ...string) *cobra.Command {
	root := &cobra.Command{
		Use:              "accelgate",
		Short:            "Gate pull requests on self-hosted accelerator runners",
		Long:             about,
		Version:          measure.Version(),
		SilenceErrors:    true,
		SilenceUsage:     true,
		Args:             cobra.NoArgs,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) { c.running = cmd },
		RunE: func(cmd *cobra.Command, _ []string) error {
			return exit.Usagef("no command given: type 'accelgate run', or 'accelgate --help' for all commands")
		},
	}
	root.PersistentFlags().BoolVarP(&c.quiet, "quiet", "q", false, "show no progress: only warnings, errors and results")
	root.PersistentFlags().BoolVarP(&c.verbose, "verbose", "v", false, "show each measurement, and not only each cell")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(c.helpCommand()) // cobra's answers a misspelt command with success
	root.AddCommand(c.built(code, args)...)
	c.completeFlags(root)
	root.SetOut(c.Stdout) // which the next line asks for
	root.InitDefaultCompletionCmd()
	strict(root)
	return root
}

// strict turns cobra's complaints about arguments into usage errors.
func strict(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if check(cmd, args) != nil {
				return complaint(cmd, positional(cmd, args), suggestCommand(cmd, args))
			}
			return nil
		}
	}
	for _, sub := range cmd.Commands() {
		strict(sub)
	}
}

// complaint is a usage error of a command; near is what may have been meant.
func complaint(cmd *cobra.Command, err error, near string) error {
	if near != "" {
		near = " (did you mean " + near + "?)"
	}
	return exit.Usagef("%v%s; see '%s --help'", err, near, cmd.CommandPath())
}

func suggestCommand(cmd *cobra.Command, args []string) string {
	var names []string
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
	}
	if len(args) == 0 {
		return ""
	}
	return text.Nearest(args[0], names)
}
