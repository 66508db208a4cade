package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
)

// encode prints a document.
func (c *Command) encode(v any) error {
	return text.WriteJSON(c.Stdout, " ", v)
}

// addJSON adds --json to a command that has formats, as the same as --format json.
func addJSON(cmd *cobra.Command, format *string) {
	asJSON := cmd.Flags().Bool("json", false, "the same as --format json")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *asJSON {
			if cmd.Flags().Changed("format") && *format != "json" {
				return exit.Usagef("--json and --format %s exclude each other: keep one", *format)
			}
			*format = "json"
		}
		return run(cmd, args)
	}
}

type completer = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// completeFlags completes what is cheap to know: names of suites, from the
// configuration, and ids of cells, from a plan that starts nothing. Errors complete
// nothing: a shell has no place for them.
func (c *Command) completeFlags(cmd *cobra.Command) {
	for name, complete := range map[string]completer{"suite": c.completeSuites, "only": c.completeCells, "skip": c.completeCells, "cell": c.completeCells} {
		if cmd.Flags().Lookup(name) != nil && cmd.Flags().Lookup("config") != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, complete) // fails only for a flag that does not exist
		}
	}
	for _, sub := range cmd.Commands() {
		c.completeFlags(sub)
	}
}

func (c *Command) completeSuites(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	file, _, err := configured(cmd).Read()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	before := prefix[:strings.LastIndexByte(prefix, ',')+1] // --suite takes several
	var names []string
	for i := range file.Suites {
		names = append(names, before+file.Suites[i].Name)
	}
	return startingWith(names, prefix), cobra.ShellCompDirectiveNoFileComp
}

func (c *Command) completeCells(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	o := measure.Options{HostOptions: *configured(cmd)}
	o.Unlisted = true // a key must not start a build
	s, err := c.env().OpenPlanFor(cmd.Context(), &o)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer s.Close()
	var ids []string
	for _, one := range s.Plan.Suites {
		ids = append(ids, measure.CellIDs(one.Cells)...)
	}
	return startingWith(ids, prefix), cobra.ShellCompDirectiveNoFileComp
}

// completeRunCells completes the cells of the last run, or of those that --from names.
func (c *Command) completeRunCells(o *explaining) completer {
	return func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		var ids []string
		if o.lastRun() == nil && len(args) == 0 {
			for _, path := range o.from {
				if run, err := o.ReadRun(path); err == nil {
					for i := range run.Results {
						ids = append(ids, run.Results[i].Cell.ID())
					}
				}
			}
		}
		return startingWith(ids, prefix), cobra.ShellCompDirectiveNoFileComp
	}
}

// configured are the options that a command line has so far.
func configured(cmd *cobra.Command) *measure.HostOptions {
	o := &measure.HostOptions{}
	o.Config, _ = cmd.Flags().GetString("config")
	o.HostLabel, _ = cmd.Flags().GetString("host-label")
	return o
}

func startingWith(all []string, prefix string) (list []string) {
	for _, s := range all {
		if strings.HasPrefix(s, prefix) {
			list = append(list, s)
		}
	}
	return list
}
