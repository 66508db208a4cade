package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/formats/inferencebench"
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
	parent.AddCommand(c.benchRunCommand(code), schema)
	return parent
}
