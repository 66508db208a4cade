package endpoint

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/engine"
	"github.com/accelgate/accelgate/internal/engine/mock"
)

// TestMain makes this test's binary the servers that suites start: {accelgate}
// engine mock and {accelgate} engine serve.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "engine" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		switch os.Args[2] {
		case "busy": // another program that computes
			for ctx.Err() == nil {
			}
			os.Exit(0)
		case "mock":
			os.Exit(mock.Run(engine.Command{Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now}, ctx, os.Args[3:]))
		case "serve":
			os.Exit(engine.Command{Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now}.Serve(ctx, os.Args[3:]))
		}
	}
	if len(os.Args) > 2 && os.Args[1] == "bench" && os.Args[2] == "client" {
		if err := Client(context.Background(), os.Stdin, os.Stdout, os.Environ(), time.Now); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
