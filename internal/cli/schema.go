package cli

import (
	"maps"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/command/schema"
	"github.com/accelgate/accelgate/internal/config"
)

const schemaHelp = `Print the JSON Schema of accelgate.yaml, for editors and other tools. The same
schema is schema/accelgate.schema.json in accelgate's repository; 'accelgate init'
writes a line with its address. 'accelgate config check' checks more than a schema can.

  accelgate schema config > accelgate.schema.json`

const schemaRunHelp = `Print the JSON Schema of run.json, the document of one measuring command. The same
schema is schema/run.json in accelgate's repository.

  accelgate schema run > run.schema.json`

const schemaBaselineHelp = `Print the JSON Schema of baseline-HOST.json. The same schema is schema/baseline.json
in accelgate's repository. 'accelgate baseline lint' checks more than a schema can.

  accelgate schema baseline > baseline.schema.json`

const schemaReportHelp = `Print the JSON Schema of the output of 'accelgate report --format json'. The same
schema is schema/report.json in accelgate's repository; docs/formats.md describes
the members.

  accelgate schema report > report.schema.json`

func (c *Command) schemaCommand() *cobra.Command {
	parent := group("schema", "Print JSON Schemas of files")
	parent.AddCommand(c.schemaOf("config", "Print the JSON Schema of accelgate.yaml", schemaHelp, configSchema),
		c.schemaOf("run", "Print the JSON Schema of run.json", schemaRunHelp, func() (any, error) { return schema.Run() }),
		c.schemaOf("baseline", "Print the JSON Schema of baselines", schemaBaselineHelp, func() (any, error) { return schema.Baseline() }),
		c.schemaOf("report", "Print the JSON Schema of reports", schemaReportHelp, func() (any, error) { return schema.Report() }))
	return parent
}

func (c *Command) schemaOf(name, short, long string, of func() (any, error)) *cobra.Command {
	return &cobra.Command{
		Use:   name,
		Short: short,
		Long:  long,
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := of()
			if err != nil {
				return err
			}
			return c.encode(s)
		},
	}
}

func configSchema() (any, error) {
	bodies, keys := map[string]any{}, config.Keys{}
	for name, kind := range kinds {
		bodies[name] = kind.Body
		maps.Copy(keys, kind.Keys)
	}
	return config.Schema(bodies, keys), nil
}
