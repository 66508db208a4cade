package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/command/setup"
	"github.com/accelgate/accelgate/internal/text/terminal"
)

const initHelp = `Write a first accelgate.yaml, the GitHub workflow and the entry of .gitignore.

It looks for Go, pytest-benchmark and Google Benchmark suites, llama.cpp, vLLM,
SGLang, an OpenAI-compatible server and the host's devices, and asks at most four
questions. To list benchmarks it runs each of them briefly. A suite that cannot
run yet becomes a comment, so that the first 'accelgate run' passes. Without any,
a quickstart suite measures the embedded engine.

  accelgate init
  accelgate init --yes --server http://localhost:8000
  accelgate init --dry-run`

// start is what init was asked for.
type start struct {
	server, label, hosts    string
	yes, force, dry, asJSON bool
}

func (c *Command) initCommand() *cobra.Command {
	var s start
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a configuration and a workflow for this repository",
		Long:  initHelp,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return c.start(cmd.Context(), &s) },
	}
	f := cmd.Flags()
	f.BoolVarP(&s.yes, "yes", "y", false, "ask nothing (default where standard input is not a terminal)")
	f.StringVar(&s.server, "server", "", "`url` of an OpenAI-compatible server to measure (default: OPENAI_BASE_URL)")
	f.StringVar(&s.hosts, "hosts", "", "`labels` of the self-hosted runners that measure, separated by commas (default: this host's label)")
	f.StringVar(&s.label, "host-label", "", "`label` of this host (default: ACCELGATE_HOST_LABEL, or derived from the hardware)")
	f.BoolVar(&s.force, "force", false, "replace files that exist")
	f.BoolVar(&s.dry, "dry-run", false, "print the files and write nothing")
	f.BoolVar(&s.asJSON, "json", false, "print paths and contents of the files as JSON")
	return cmd
}

func (c *Command) start(ctx context.Context, s *start) error {
	if !s.dry { // before anything is run
		if err := setup.Check(".", []setup.File{{Path: setup.ConfigFile}, {Path: setup.WorkflowFile}}, s.force); err != nil {
			return err
		}
	}
	files, found, err := c.setup(ctx, s)
	if err != nil {
		return err
	}
	if s.dry {
		return c.preview(files, s.asJSON)
	}
	written, err := setup.Write(".", files)
	if err != nil {
		return err
	}
	if s.asJSON {
		return c.encode(files)
	}
	for _, line := range found.Summary() {
		fmt.Fprintln(c.Stdout, line)
	}
	for _, path := range written {
		fmt.Fprintln(c.Stdout, "wrote "+path)
	}
	_, err = fmt.Fprintln(c.Stdout, "Next: accelgate run")
	return err
}

// setup looks at the repository and asks.
func (c *Command) setup(ctx context.Context, s *start) ([]setup.File, *setup.Found, error) {
	hosts, err := setup.Hosts(s.hosts)
	if err != nil {
		return nil, nil, err
	}
	found, err := setup.Look(ctx,
		setup.Options{Dir: ".", Server: s.server, Label: c.hostLabel(s.label), Getenv: c.Getenv, Environ: os.Environ(),
			Note: func(line string) { fmt.Fprintf(c.Stderr, "accelgate: %s\n", line) }})
	if err != nil {
		return nil, nil, err
	}
	c.warnAll(found.Warnings)
	answers := setup.Answers{Hosts: hosts}
	if in, ok := c.Stdin.(*os.File); ok && terminal.Is(in) && !s.yes && !s.asJSON {
		if answers, err = found.Ask(ctx, c.Stdin, c.Stderr, answers); err != nil {
			return nil, nil, err
		}
	}
	files, err := found.Files(answers)
	return files, found, err
}

// preview prints the files in place of writing them.
func (c *Command) preview(files []setup.File, asJSON bool) error {
	ignore, err := setup.Ignore(".")
	if err != nil {
		return err
	}
	if ignore != nil {
		files = append(files, *ignore)
	}
	if asJSON {
		return c.encode(files)
	}
	for _, f := range files {
		fmt.Fprintf(c.Stdout, "--- %s\n%s", f.Path, f.Content)
	}
	_, err = fmt.Fprintln(c.Stdout, "nothing was written: leave out --dry-run")
	return err
}

// hostLabel is the label that the flag has, or the environment; "" to derive it.
func (c *Command) hostLabel(flag string) string {
	return cmp.Or(flag, c.Getenv("ACCELGATE_HOST_LABEL"))
}
