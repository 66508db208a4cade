package cli

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/suite/kernels"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/scoring"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

const serveKernelsHelp = `Serve a dataset over HTTP as 'flashinfer-bench serve' does: clients submit solutions
with POST /evaluate and fetch traces with GET /tasks/ID. POST /profile has NVIDIA's
tools watch the solution too. GET /docs lists all requests with examples. Each task is
measured by 'accelgate kernels run' in a process of its own, one at a time.

  accelgate kernels serve flashinfer-trace
  TOKEN=secret accelgate kernels serve flashinfer-trace --listen 0.0.0.0:8000 --token-env TOKEN

Submitted solutions are programs that run with your rights. Serve in a container, or
as a user that owns nothing. As root the command needs --allow-root, and on an
address that other hosts reach it needs a token.

Tasks stay in --dir: after an interrupt the task that was being measured is
pending again, and the next server measures it. A killed server's task has failed.`

// serving is what the command was asked for.
type serving struct {
	kernelsRun
	listen, dir, tokenEnv string
	queue                 int
	limit                 time.Duration
	allowRoot             bool
	passed                []string // flags of kernels run
}

// passedOn are the flags of kernels run that hold for each task.
var passedOn = []string{
	"config", "mode", "reference", "python", "device", "warmup-runs", "iterations", "num-trials", "timeout", "rtol", "atol",
	"required-matched-ratio", "no-profile-baseline", "profile",
}

func (c *Command) serveKernelsCommand() *cobra.Command {
	s := serving{queue: 64, limit: time.Hour}
	cmd := &cobra.Command{
		Use:   "serve FOLDER",
		Short: "Serve a dataset over HTTP: submit solutions, fetch traces",
		Long:  serveKernelsHelp,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range passedOn {
				if f := cmd.Flags().Lookup(name); f.Changed {
					s.passed = append(s.passed, "--"+name+"="+written(f.Value))
				}
			}
			s.changed = cmd.Flags().Changed
			return c.serveKernels(cmd.Context(), args[0], &s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.listen, "listen", "127.0.0.1:8000", "`address` to listen at; port 0 is any that is free")
	f.StringVar(&s.tokenEnv, "token-env", "", "`variable` of the environment with the token that requests must have")
	f.StringVar(&s.dir, "dir", filepath.Join(measure.DefaultOut, "kernels-serve"), "`folder` for tasks")
	f.Var((*count)(&s.queue), "queue", "most pending tasks, `n`; more are refused (default: 64)")
	f.Var((*period)(&s.limit), "task-timeout", "`time` that one task may take (default: 1h)")
	f.BoolVar(&s.allowRoot, "allow-root", false, "run submitted solutions as root")
	f.StringSliceVar(&s.Devices, "devices", nil,
		"`ids` of the accelerators to measure on, a task at a time on each (default: one task at a time)")
	run := pflag.NewFlagSet("run", pflag.ContinueOnError)
	s.addFlags(run)
	for _, name := range passedOn {
		f.AddFlag(run.Lookup(name))
	}
	return cmd
}

func (c *Command) serveKernels(ctx context.Context, root string, s *serving) error {
	if os.Geteuid() == 0 && !s.allowRoot {
		return exit.Usagef(
			"submitted solutions would run as root and could do anything to this host: start the server as a user that owns nothing, or, in a container, add --allow-root",
		)
	}
	token := ""
	if s.tokenEnv != "" {
		if token = c.Getenv(s.tokenEnv); token == "" {
			return exit.Usagef("--token-env: the variable %s is empty or not set: put the token into it", text.OneLine(s.tokenEnv))
		}
	}
	if err := c.checkTasks(s); err != nil {
		return exit.AsUsage(err)
	}
	ds, err := flashinfer.Load(root)
	if err != nil {
		return exit.AsUsage(err)
	}
	command, err := c.scoringCommand(s)
	if err != nil {
		return err
	}
	listener, err := listenAt(ctx, s.listen, token)
	if err != nil {
		return err
	}
	lanes := s.Devices
	if len(lanes) == 0 {
		lanes = []string{""}
	}
	server, err := scoring.New(scoring.Options{
		Dataset: ds,
		Dir:     s.dir,
		Token:   token,
		Hosts:   []string{"127.0.0.1", "localhost", "::1"},
		Queue:   s.queue,
		Lanes:   lanes,
		Tools:   kernels.Profilers(),
		Score:   command.Score,
		Now:     c.Now,
		Warn:    func(w string) { c.warnAll([]string{w}) },
	})
	if err != nil {
		return exit.AsUsage(closing(listener, err))
	}
	if _, err := fmt.Fprintf(c.Stdout, "listening on http://%s\n", listener.Addr()); err != nil {
		return closing(listener, err)
	}
	return server.Serve(ctx, listener, log.New(c.Stderr, "accelgate kernels serve: ", 0))
}

// checkTasks refuses settings by which every task would fail.
func (c *Command) checkTasks(s *serving) error {
	if _, err := c.evalConfig(s.config); err != nil {
		return err
	}
	file, err := s.configuration()
	if err != nil {
		return err
	}
	return kernels.CheckKeys(&file.Suites[0])
}

func closing(listener net.Listener, err error) error {
	_ = listener.Close()
	return err
}

// scoringCommand is what measures a task.
func (c *Command) scoringCommand(s *serving) (*scoring.Command, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find accelgate's own file: %w: start it by its path", err)
	}
	if err := worker.Conceal(); err != nil { // the token is in the environment
		return nil, err
	}
	return scoring.NewCommand(executable, s.passed, os.Environ(), s.limit), nil
}

// listenAt listens, on addresses that other hosts reach only with a token.
func listenAt(ctx context.Context, address, token string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, exit.Usagef("--listen: %w: write it as 127.0.0.1:8000", err)
	}
	if ip := net.ParseIP(host); token == "" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, exit.Usagef(
			"other hosts could run programs here through %s: name a variable that holds a token with --token-env, or listen at 127.0.0.1",
			text.OneLine(address))
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, exit.Usagef("%w: choose another address with --listen", err)
	}
	return listener, nil
}
