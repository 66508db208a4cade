package cli

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/doctor"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/terminal"
	"github.com/accelgate/accelgate/internal/worker"
)

const doctorHelp = `Look at everything that a gate rests on, and say how to mend what is wrong: devices,
driver and their settings, governor, load, container engine, git, configuration,
workflows, and on GitHub the token, runners and branch protection. Nothing is changed.

The token is that of GITHUB_TOKEN or GH_TOKEN. Exit code 1 means that there is an error.

  accelgate doctor
  GITHUB_TOKEN=$(gh auth token) accelgate doctor --json`

// visit is what doctor was asked for.
type visit struct {
	options measure.Options
	repo    string
	asJSON  bool
}

func (c *Command) doctorCommand(code *int) *cobra.Command {
	var v visit
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what is wrong with this host, repository and workflow",
		Long:  doctorHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			*code, err = c.doctor(cmd.Context(), &v)
			return err
		},
	}
	f := cmd.Flags()
	addConfig(&v.options, f)
	f.StringVar(&v.options.HostLabel, "host-label", "", "`label` of this host (default: ACCELGATE_HOST_LABEL, or derived from the machine)")
	f.StringVar(&v.repo, "repo", "", "`owner/name` on GitHub (default: GITHUB_REPOSITORY, or the remote origin)")
	f.BoolVar(&v.asJSON, "json", false, "print the findings as JSON")
	return cmd
}

func (c *Command) doctor(ctx context.Context, v *visit) (code int, err error) {
	findings, err := doctor.Look(ctx, c.doctorOptions(v))
	if err != nil {
		return 0, err
	}
	if doctor.Worst(findings) == doctor.Error {
		code = exit.GateFailed
	}
	if v.asJSON {
		return code, c.encode(findings)
	}
	t := terminal.NewTable(c.Stdout)
	for _, f := range findings {
		line := fmt.Sprintf("%s\t%s\t%s", f.Check, f.Status, f.Text)
		if f.Fix != "" {
			line += ": " + f.Fix
		}
		fmt.Fprintln(t, line)
	}
	return code, t.Flush()
}

func (c *Command) doctorOptions(v *visit) doctor.Options {
	o := doctor.Options{Dir: ".", Label: c.hostLabel(v.options.HostLabel), Environ: os.Environ(), Worker: &worker.Isolated{Environ: os.Environ()},
		GOOS: runtime.GOOS, Now: c.Now, Version: measure.Version(), Repo: v.repo, Job: c.Getenv("GITHUB_ACTIONS") == "true"}
	if o.Repo == "" {
		o.Repo = c.Getenv("GITHUB_REPOSITORY")
	}
	o.Check = func(ctx context.Context) (string, error) { return c.checked(ctx, &v.options) }
	token := c.Getenv("GITHUB_TOKEN")
	if token == "" {
		token = c.Getenv("GH_TOKEN")
	}
	if token != "" {
		o.GitHub, o.Token = github.New(github.Options{BaseURL: c.Getenv("GITHUB_API_URL"), Token: token, UserAgent: "accelgate/" + measure.Version(), Sleep: c.Sleep, Now: c.Now})
	}
	return o
}
