package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/command/doctor"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text/terminal"
	"github.com/accelgate/accelgate/internal/worker"
)

const doctorHelp = `Look at everything that a gate rests on, and report how to fix it: devices,
driver and their settings, governor, load, container engine, git, configuration with
its programs, workflows, and on GitHub the token, the pinned reference, the default
branch, runners, required checks and refresh pull requests. Nothing is changed.

The token is that of GITHUB_TOKEN or GH_TOKEN. Exit code 1 means that there is an error.

  accelgate doctor
  GITHUB_TOKEN=$(gh auth token) accelgate doctor --json`

// visit is what doctor was asked for.
type visit struct {
	measure.HostOptions
	typed  bool // the command line names the configuration
	repo   string
	asJSON bool
}

func (c *Command) doctorCommand(code *int) *cobra.Command {
	var v visit
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what is wrong with this host, repository and workflow",
		Long:  doctorHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			v.typed = cmd.Flags().Changed("config")
			*code, err = c.doctor(cmd.Context(), &v)
			return err
		},
	}
	f := cmd.Flags()
	addConfig(&v.HostOptions, f)
	f.StringVar(&v.HostLabel, "host-label", "",
		"`label` of this host (default: ACCELGATE_HOST_LABEL, the configuration's, or derived from the hardware)")
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
	t := terminal.NewTable(c.Stdout, c.columns())
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
	o := doctor.Options{Dir: ".", Environ: os.Environ(), Worker: &worker.Isolated{Environ: os.Environ()},
		GOOS: runtime.GOOS, Now: c.Now, Version: measure.Version(), Repo: v.repo,
		Config: v.Config, Typed: v.typed, Job: c.Getenv("GITHUB_ACTIONS") == "true"}
	o.Repo = cmp.Or(o.Repo, c.Getenv("GITHUB_REPOSITORY"))
	o.Host, o.Check = c.looks(v)
	o.Server = c.Getenv("GITHUB_SERVER_URL")
	api := c.Getenv("GITHUB_API_URL")
	if api == "" && o.Server != "" && strings.TrimSuffix(o.Server, "/") != "https://github.com" {
		api = strings.TrimSuffix(o.Server, "/") + "/api/v3" // of a GitHub Enterprise Server
	}
	token := cmp.Or(c.Getenv("GITHUB_TOKEN"), c.Getenv("GH_TOKEN"))
	if token != "" {
		o.GitHub, o.Token = github.New(github.Options{
			BaseURL: api, Token: token, UserAgent: "accelgate/" + measure.Version(),
			Sleep: c.Sleep, Transport: c.Transport, Now: c.Now})
	}
	return o
}

// looks returns how this host is found out by a configuration, as measuring does it, and how the suites of
// configurations are then checked on it, so that no tool is asked twice for the devices.
func (c *Command) looks(v *visit) (
	host func(context.Context, string) (bench.Host, []string, error),
	check func(context.Context, doctor.Configuration) (doctor.Checked, error),
) {
	e := c.env()
	configure := func(one doctor.Configuration) (measure.Config, error) {
		o := measure.Options{HostOptions: v.HostOptions, MeasureOptions: measure.MeasureOptions{Unlisted: true}}
		o.Config, o.Profile = one.Path, one.Profile
		if one.Suites != "" {
			o.Suites = strings.Split(one.Suites, ",")
		}
		settled, err := e.Configure(&o)
		return settled, err
	}
	var found bench.Host
	var unknown error // what the host is
	host = func(ctx context.Context, path string) (bench.Host, []string, error) {
		settled, _ := configure(doctor.Configuration{Path: path}) // check reports what is wrong with it
		settled.Warnings = nil
		unknown = e.Detect(ctx, &settled)
		found = settled.Host
		return found, settled.Warnings, unknown
	}
	check = func(ctx context.Context, one doctor.Configuration) (doctor.Checked, error) {
		settled, err := configure(one)
		if err := cmp.Or(err, unknown); err != nil {
			c.warnAll(settled.Warnings)
			return doctor.Checked{}, err
		}
		settled.Host = found
		s, err := e.Open(ctx, &settled)
		if err != nil {
			return doctor.Checked{}, err
		}
		defer s.Close()
		return doctor.Checked{Has: described(s.Plan), Absent: s.Absent(ctx), Warnings: s.Plan.Warnings}, nil
	}
	return host, check
}
