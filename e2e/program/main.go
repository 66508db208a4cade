// Command program is accelgate as scripts run it: cmd/accelgate, whose pauses between two writes to GitHub can be skipped, and which
// can read the NUMA nodes of devices below another root.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/accelgate/accelgate/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	c := cli.Command{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now}
	c.Root = os.Getenv("SYSFS")   // of a host with other NUMA nodes
	if os.Getenv("HURRY") != "" { // a pause moves the clock and takes no time
		var slept time.Duration
		c.Now = func() time.Time { return time.Now().Add(slept) }
		c.Sleep = func(ctx context.Context, d time.Duration) error { slept += d; return ctx.Err() }
	}
	os.Exit(c.Main(ctx, os.Args[1:]))
}
