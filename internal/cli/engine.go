package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/engine"
	"github.com/accelgate/accelgate/internal/engine/mock"
)

// engineCommand mounts the embedded engine, which suites run as a child by
// executing accelgate again. It parses its own arguments.
func (c *Command) engineCommand(code *int) *cobra.Command {
	parent := group("engine", "The embedded engine: a small transformer on the CPU")
	parent.AddCommand(
		c.engineMode(code, "bench", "Run the model once and print its measurements as JSON", engine.Command.Bench),
		c.engineMode(code, "worker", "Keep the model loaded and answer requests, one JSON object a line",
			func(e engine.Command, ctx context.Context, args []string) int { return e.Worker(ctx, c.Stdin, args) }),
		c.engineMode(code, "serve", "Serve the model over HTTP, as OpenAI's API does", engine.Command.Serve),
		c.engineMode(code, "calibrate", "Do a fixed piece of work and print its time as JSON", engine.Command.Calibrate),
		c.engineMode(code, "mock", "Serve tokens at programmed times, and faults, to try a client on",
			mock.Run),
	)
	return parent
}

// engineMode is a command of the engine, which parses its own flags.
func (c *Command) engineMode(code *int, use, short string, run func(engine.Command, context.Context, []string) int) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			*code = run(engine.Command{Stdout: c.Stdout, Stderr: c.Stderr, Getenv: c.Getenv, Now: c.Now}, cmd.Context(), args)
			return nil
		},
	}
}
