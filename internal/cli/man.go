package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
)

// manCommand writes the manual for packages; users have --help.
func (c *Command) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write the manual pages",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return exit.Usagef("make the folder for the manual: %w: name another one", err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // its date would make two builds differ
			now := c.Now().UTC()
			if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: measure.Tool(), Manual: "accelgate", Date: &now}, args[0]); err != nil {
				return fmt.Errorf("write the manual: %w", err)
			}
			_, err := fmt.Fprintf(c.Stdout, "Next: read it: man -l %s/accelgate.1\n", args[0])
			return err
		},
	}
}
