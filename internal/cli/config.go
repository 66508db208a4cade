package cli

import (
	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/formats/tensorsharp"
	"github.com/accelgate/accelgate/internal/measure"
)

const convertHelp = `Print TensorSharp's matrix-config.json as an accelgate.yaml. accelgate reads the
JSON file as it is; converting it is for those who want to change what it
cannot say.

  accelgate config convert matrix-config.json > accelgate.yaml`

func (c *Command) configCommand() *cobra.Command {
	parent := group("config", "Work with configurations")
	parent.AddCommand(&cobra.Command{
		Use:   "convert FILE",
		Short: "Print another tool's configuration as an accelgate.yaml",
		Long:  convertHelp,
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			o := measure.HostOptions{Config: args[0]}
			data, err := measure.ReadBounded(o.Config)
			if err != nil {
				return exit.Usagef("config convert: %w: name a matrix-config.json", err)
			}
			if !tensorsharp.IsConfig(data) {
				return exit.Usagef("config convert: %s is not a matrix-config.json of TensorSharp: name one", o.Config)
			}
			text, warnings, err := o.Translate(data)
			if err != nil {
				return exit.AsUsage(err)
			}
			c.warnAll(warnings)
			_, err = c.Stdout.Write(text)
			return err
		},
	})
	parent.AddCommand(c.checkCommand())
	return parent
}
