package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/formats/inferencebench"
	"github.com/accelgate/accelgate/internal/suite/endpoint"
)

// benchCommand is about servers of language models.
func (c *Command) benchCommand(code *int) *cobra.Command {
	parent := group("bench", "Load an OpenAI-compatible endpoint and measure it")
	schema := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of envelopes",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(c.Stdout, "%s", inferencebench.Schema())
			return err
		},
	}
	client := &cobra.Command{
		Use:    "client",
		Short:  "Send the part of a load that standard input describes, for 'bench run'",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return endpoint.Client(cmd.Context(), c.Stdin, c.Stdout, os.Environ(), c.Now)
		},
	}
	parent.AddCommand(c.benchRunCommand(code), c.benchMergeCommand(code), schema, client)
	return parent
}
