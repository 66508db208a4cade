package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
)

// positional returns in our words what is wrong with a command's arguments: how many
// it takes is in its usage line.
func positional(cmd *cobra.Command, args []string) error {
	name, takes, _ := strings.Cut(cmd.Use, " ")
	full := strings.TrimSpace(strings.TrimSuffix(cmd.CommandPath(), name) + name)
	switch {
	case cmd.HasSubCommands():
		return fmt.Errorf("unknown command %q for %q", args[0], full)
	case takes == "":
		return fmt.Errorf("%s takes no argument: found %q", full, args[0])
	case len(args) == 0:
		return fmt.Errorf("%s: no argument given: type '%s %s'", full, full, takes)
	}
	return fmt.Errorf("%s: %s given: type '%s %s'", full, text.Plural(len(args), "argument"), full, takes)
}

// group is a command that does nothing without one of its own commands.
func group(name, short string) *cobra.Command {
	return &cobra.Command{
		Use:   name,
		Short: short,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var names []string
			for _, sub := range cmd.Commands() {
				if !sub.Hidden {
					names = append(names, sub.Name())
				}
			}
			return exit.Usagef("%s: name a command: %s; see '%[1]s --help'", cmd.CommandPath(), strings.Join(names, ", "))
		},
	}
}

// helpCommand is cobra's own, but a misspelt command is an error.
func (c *Command) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND...]",
		Short: "Help about a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				word := args[len(args)-max(1, len(rest))]
				of := cmd.Root()
				if found != nil {
					of = found
				}
				return complaint(of, fmt.Errorf("unknown command %q for %q", word, of.CommandPath()), suggestCommand(of, []string{word}))
			}
			return found.Help()
		},
	}
}

func (c *Command) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the version of Go",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := measure.Built()
			if asJSON {
				return c.encode(b)
			}
			_, err := fmt.Fprintf(c.Stdout, "accelgate version %s\n", b)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return cmd
}
