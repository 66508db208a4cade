package cli

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"
)

// builders are the commands below the root by name, unbuilt: all flags of all commands take a millisecond of each start.
func (c *Command) builders() map[string]func(code *int) *cobra.Command {
	plain := func(build func() *cobra.Command) func(*int) *cobra.Command {
		return func(*int) *cobra.Command { return build() }
	}
	return map[string]func(*int) *cobra.Command{
		"run":           c.runCommand,
		"doctor":        c.doctorCommand,
		"plan":          plain(c.planCommand),
		"baseline":      c.baselineCommand,
		"report":        c.reportCommand,
		"history":       plain(c.historyCommand),
		"calibrate":     c.calibrateCommand,
		"judge":         c.judgeCommand,
		"bench":         c.benchCommand,
		"diff":          c.diffCommand,
		"import":        plain(c.importCommand),
		"export":        plain(c.exportCommand),
		"bisect":        plain(c.bisectCommand),
		"bisect-step":   c.bisectStepCommand,
		"selftest":      c.selftestCommand,
		"config":        plain(c.configCommand),
		"cases":         c.casesCommand,
		"kernels":       c.kernelsCommand,
		"analyze":       c.analyzeCommand,
		"auto-baseline": c.autoBaselineCommand,
		"engine":        c.engineCommand,
		"action":        c.actionCommand,
		"version":       plain(c.versionCommand),
		"list":          plain(c.listCommand),
		"fetch":         c.fetchCommand,
		"explain":       plain(c.explainCommand),
		"man":           plain(c.manCommand),
		"init":          plain(c.initCommand),
		"schema":        plain(c.schemaCommand),
		"site":          plain(c.siteCommand),
		"sign":          plain(c.signCommand),
	}
}

// built returns the command that the arguments name, and all where they name none, or one that needs all.
func (c *Command) built(code *int, args []string) (commands []*cobra.Command) {
	builders := c.builders()
	if len(args) > 0 && builders[args[0]] != nil && args[0] != "man" {
		return []*cobra.Command{builders[args[0]](code)}
	}
	for _, name := range slices.Sorted(maps.Keys(builders)) {
		commands = append(commands, builders[name](code))
	}
	return commands
}

// find returns the command of a line that a message tells people to type.
func (c *Command) find(words []string) (*cobra.Command, error) {
	if c.whole == nil {
		other := *c // whose flags are not those that were given
		c.whole = other.root(new(int))
	}
	found, _, err := c.whole.Find(words)
	return found, err
}
