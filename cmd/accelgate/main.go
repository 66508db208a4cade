// Command accelgate gates pull requests on self-hosted accelerator runners.
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
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	c := cli.Command{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now}
	os.Exit(c.Main(ctx, os.Args[1:]))
}
