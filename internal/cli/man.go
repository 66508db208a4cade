package cli

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accelgate/accelgate/internal/atomicfile"
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
			if err := manTree(cmd.Root(), args[0], c.Now().UTC()); err != nil {
				return exit.Usagef("write the manual: %w: name another folder", err)
			}
			_, err := fmt.Fprintf(c.Stdout, "Next: read it: man -l %s/accelgate.1\n", args[0])
			return err
		},
	}
}

// manTree writes the pages of a command and of those below it. (cobra/doc does so by way of Markdown:
// it takes the <label> of a usage for HTML, and links a parser of Markdown and one of YAML.)
func manTree(cmd *cobra.Command, dir string, now time.Time) error {
	if err := atomicfile.Write(filepath.Join(dir, manName(cmd)+".1"), []byte(manPage(cmd, now))); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if err := manTree(sub, dir, now); err != nil {
			return err
		}
	}
	return nil
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage is the page of a command in the macros of man(7).
func manPage(cmd *cobra.Command, now time.Time) string {
	cmd.InitDefaultHelpFlag()
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 %q %q \"accelgate\"\n", strings.ToUpper(manName(cmd)), now.Format("2006-01-02"), measure.Tool())
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	long := cmp.Or(cmd.Long, cmd.Short)
	b.WriteString(".SH DESCRIPTION\n" + roffText(long))
	manFlags(&b, "OPTIONS", cmd.NonInheritedFlags())
	manFlags(&b, "OPTIONS OF ALL COMMANDS", cmd.InheritedFlags())
	var also []string
	if cmd.HasParent() {
		also = append(also, ".BR "+roff(manName(cmd.Parent()))+" (1)")
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			also = append(also, ".BR "+roff(manName(sub))+" (1)")
		}
	}
	if len(also) > 0 {
		b.WriteString(".SH SEE ALSO\n" + strings.Join(also, ",\n") + "\n")
	}
	return b.String()
}

func manFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		name := `\fB` + roff("--"+f.Name) + `\fR`
		if f.Shorthand != "" {
			name = `\fB` + roff("-"+f.Shorthand) + `\fR, ` + name
		}
		value, usage := pflag.UnquoteUsage(f)
		if value != "" {
			name += ` \fI` + roff(value) + `\fR`
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "[]" && !strings.Contains(usage, "(default") {
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(b, ".TP\n%s\n%s\n", name, roff(usage))
	})
}

// roffText keeps indented lines, which are examples, as they are, and fills the others.
func roffText(s string) string {
	var b strings.Builder
	for _, part := range strings.Split(strings.Trim(s, "\n"), "\n\n") {
		b.WriteString(".PP\n")
		if strings.HasPrefix(part, " ") {
			part = ".nf\n" + roff(part) + "\n.fi"
		} else {
			part = roff(part)
		}
		b.WriteString(part + "\n")
	}
	return b.String()
}

var roffEscapes = strings.NewReplacer(`\`, `\e`, `-`, `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'")

// roff escapes a text, whose first character may begin a line.
func roff(s string) string {
	s = roffEscapes.Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		return `\&` + s
	}
	return s
}
