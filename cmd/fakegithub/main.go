// Command fakegithub serves a stand-in for GitHub's API: see fakegithub -help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := githubtest.Command(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
