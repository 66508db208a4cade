package cli

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// carried are the flags that a command in a message repeats as the user gave them:
// without them it is about another configuration, host or part of the matrix.
var carried = []string{"config", "host-label", "baseline", "suite", "profile"}

var (
	inQuotes = lazyregexp.New(`'accelgate [^'\n]*'`)
	inText   = lazyregexp.New("(^|[^'`])(accelgate(?: [a-z][a-z-]+)+)")
)

// carry adds the flags of the command that runs to the commands in a message.
func (c *Command) carry(text string) string {
	if c.running == nil {
		return text
	}
	text = inText.ReplaceAllStringFunc(text, func(found string) string {
		at := strings.Index(found, "accelgate")
		typed, _ := c.completed(found[at:])
		return found[:at] + typed
	})
	return inQuotes.ReplaceAllStringFunc(text, func(found string) string {
		typed, quoted := c.completed(found[1 : len(found)-1])
		if quoted { // it cannot stand between quotes
			return "`" + typed + "`"
		}
		return "'" + typed + "'"
	})
}

// completed returns a command with the flags that it takes and lacks, and reports
// whether one of them holds quotes.
func (c *Command) completed(typed string) (full string, quoted bool) {
	named, err := c.find(strings.Fields(typed)[1:])
	if err != nil || !named.Runnable() || !named.HasParent() || strings.Contains(typed, "--help") {
		return typed, false
	}
	flags := ""
	for _, name := range carried {
		value := given(c.running, name)
		if value == "" || named.Flags().Lookup(name) == nil || regexp.MustCompile(`--`+name+`\b`).MatchString(typed) {
			continue
		}
		flags += " --" + name + " " + text.ShellWord(value)
	}
	path := named.CommandPath()
	return path + flags + strings.TrimPrefix(typed, path), strings.Contains(flags, "'")
}

// given is the value of a flag on the command line; "" if it is not there.
func given(cmd *cobra.Command, name string) string {
	f := cmd.Flags().Lookup(name)
	if f == nil || !f.Changed {
		return ""
	}
	return written(f.Value)
}

// written is a flag's value as it is typed. A count does not print itself, because
// its default is none.
func written(v pflag.Value) string {
	switch v := v.(type) {
	case *count:
		return strconv.Itoa(int(*v))
	case pflag.SliceValue:
		return strings.Join(v.GetSlice(), ",")
	}
	return v.String()
}
