package cli

import (
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
)

const schemaHelp = `Print the JSON Schema of accelgate.yaml, for editors and other tools. The same
schema is schema/accelgate.schema.json in accelgate's repository; 'accelgate init'
writes a line with its address. 'accelgate config check' checks more than a schema can.

  accelgate schema config > accelgate.schema.json`

func (c *Command) schemaCommand() *cobra.Command {
	parent := &cobra.Command{
		Use:   "schema",
		Short: "Print JSON Schemas of files",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return exit.Usagef("accelgate schema: name a file: type 'accelgate schema config'")
		},
	}
	parent.AddCommand(&cobra.Command{
		Use:   "config",
		Short: "Print the JSON Schema of accelgate.yaml",
		Long:  schemaHelp,
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			bodies := map[string]any{}
			for name, kind := range kinds {
				bodies[name] = kind.Body
			}
			return c.encode(config.Schema(bodies))
		},
	})
	return parent
}
