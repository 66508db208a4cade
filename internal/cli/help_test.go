package cli

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestGarbledPlaceholders: pflag takes what stands in backquotes of a usage for the
// name of the value, so "--gpus as in 0,1" came from "as in `0,1`".
func TestGarbledPlaceholders(t *testing.T) {
	t.Parallel()
	var code int
	word := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9.=/-]*$`)
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			name, usage := pflag.UnquoteUsage(f)
			switch {
			case f.Value.Type() == "bool" && strings.Contains(f.Usage, "`"):
				t.Errorf("%s --%s takes no value, and its help has a placeholder: %s", cmd.CommandPath(), f.Name, f.Usage)
			case name != "" && !word.MatchString(name), strings.Contains(usage, "`"):
				t.Errorf("%s --%s %s: %s", cmd.CommandPath(), f.Name, name, f.Usage)
			}
		})
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	check((&Command{Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Getenv: func(string) string { return "" }}).root(&code))
}
