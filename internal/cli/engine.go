package cli

import (
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/engine"
)

// engineCommand mounts the embedded engine, which suites run as a child by
// executing accelgate again. It parses its own arguments.
func (c *Command) engineCommand(code *int) *cobra.Command {
	parent := &cobra.Command{
		Use:   "engine",
		Short: "The embedded engine: a small transformer on the CPU",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return usagef("accelgate engine: name a command: type 'accelgate engine bench --help'")
		},
	}
	parent.AddCommand(&cobra.Command{
		Use:                "bench",
		Short:              "Run the model once and print what it measured as JSON",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			e := engine.Command{Stdout: c.Stdout, Stderr: c.Stderr, Getenv: c.Getenv, Now: c.Now}
			*code = e.Bench(cmd.Context(), args)
			return nil
		},
	})
	parent.AddCommand(&cobra.Command{
		Use:                "serve",
		Short:              "Keep the model loaded and answer requests, one JSON object a line",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			e := engine.Command{Stdout: c.Stdout, Stderr: c.Stderr, Getenv: c.Getenv, Now: c.Now}
			*code = e.Serve(cmd.Context(), c.Stdin, args)
			return nil
		},
	})
	return parent
}
