package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// noTable are the commands that print no table, with what they print instead.
var noTable = map[string]string{
	"accelgate config check":             "a line that there are no mistakes; mistakes are errors",
	"accelgate schema baseline":          "a JSON document",
	"accelgate schema config":            "a JSON document",
	"accelgate schema report":            "a JSON document",
	"accelgate schema run":               "a JSON document",
	"accelgate action":                   "the action's outputs and its report.json are its documents",
	"accelgate baseline anchor":          "a line for each number that it writes; the baseline is the document",
	"accelgate baseline prune":           "a line for each entry that it removes; the baseline is the document",
	"accelgate baseline update":          "a line that says what was recorded; the baseline is the document",
	"accelgate bench schema":             "JSON",
	"accelgate bench client":             "JSON, one object a line",
	"accelgate bisect":                   "one commit, and git's log of the bisection",
	"accelgate bisect-step":              "one line for git bisect",
	"accelgate cases refresh":            "a line for each number that it writes; the case files are the documents",
	"accelgate completion bash":          "a script",
	"accelgate completion fish":          "a script",
	"accelgate completion powershell":    "a script",
	"accelgate completion zsh":           "a script",
	"accelgate config convert":           "YAML",
	"accelgate engine bench":             "JSON",
	"accelgate engine calibrate":         "JSON",
	"accelgate engine mock":              "a line that says where it listens",
	"accelgate engine serve":             "a line that says where it listens",
	"accelgate engine worker":            "JSON, one object a line",
	"accelgate export":                   "a document for another tool, or the path of each envelope",
	"accelgate history record":           "a line for each run; the history is the document",
	"accelgate import":                   "the path of the run that it writes",
	"accelgate judge":                    "JSON, one object a line",
	"accelgate kernels report apply":     "a JSON document",
	"accelgate kernels report visualize": "an HTML page",
	"accelgate kernels serve":            "a line that says where it listens",
	"accelgate kernels traces compact":   "a line for each file",
	"accelgate kernels worker":           "frames of the protocol of kernel workers",
	"accelgate man":                      "the folder of the pages that it writes",
	"accelgate site":                     "a line that counts the pages that it writes",
	"accelgate sign":                     "a line that counts the files",
	"accelgate selftest":                 "a sentence for each thing that was proved",
}

// changing are the commands that change files which people edit or review, or GitHub; and
// why one needs no --dry-run.
var changing = map[string]string{
	"accelgate action":                 "its steps are tried on a pull request; 'accelgate run' and 'accelgate report' do the same without GitHub",
	"accelgate auto-baseline":          "without --promote it only compares, and prints what differs",
	"accelgate baseline anchor":        "",
	"accelgate baseline prune":         "",
	"accelgate baseline update":        "",
	"accelgate calibrate":              "without --write it only prints what it found",
	"accelgate cases refresh":          "",
	"accelgate history record":         "",
	"accelgate init":                   "",
	"accelgate kernels traces compact": "",
}

// onlyNew are the commands that write files of their own, where --out or an argument
// says: nothing that people edit is there.
var onlyNew = []string{"accelgate analyze fidelity", "accelgate bench merge", "accelgate bench run", "accelgate bisect", "accelgate export", "accelgate import", "accelgate kernels report apply", "accelgate kernels report merge",
	"accelgate kernels report visualize", "accelgate kernels run", "accelgate kernels serve",
	"accelgate man", "accelgate report", "accelgate run", "accelgate selftest", "accelgate sign", "accelgate site"}

// leaves are the commands that do something.
func leaves(cmd *cobra.Command) (all []*cobra.Command) {
	for _, sub := range cmd.Commands() {
		all = append(all, leaves(sub)...)
		if !sub.HasSubCommands() || sub.Flags().Lookup("config") != nil || sub.Flags().Lookup("json") != nil {
			all = append(all, sub)
		}
	}
	return all
}

// TestTablesHaveJSON walks the commands: each that is not listed above prints a table and
// has --json, each that changes something has --dry-run, and the lists name no command
// that is gone.
func TestTablesHaveJSON(t *testing.T) {
	t.Parallel()
	var code int
	seen := map[string]bool{}
	for _, cmd := range leaves((&Command{Stdout: io.Discard, Getenv: func(string) string { return "" }}).root(&code)) {
		path := cmd.CommandPath()
		seen[path] = true
		hasJSON, hasDry := cmd.Flags().Lookup("json") != nil, cmd.Flags().Lookup("dry-run") != nil
		if _, excepted := noTable[path]; excepted == hasJSON {
			t.Errorf("%s: --json is %t: add it, or say in noTable what is printed instead", path, hasJSON)
		}
		because, changes := changing[path]
		if hasDry != (changes && because == "") {
			t.Errorf("%s: --dry-run is %t: add it, or say in changing why it needs none", path, hasDry)
		}
		writes := cmd.Flags().Lookup("out") != nil || cmd.Flags().Lookup("export") != nil || cmd.Flags().Lookup("reason") != nil || strings.Contains(cmd.Use, " FOLDER") && excepted(path)
		if writes && !changes && !slices.Contains(onlyNew, path) {
			t.Errorf("%s writes files: list it in changing or in onlyNew", path)
		}
	}
	for _, path := range slices.Concat(keys(noTable), keys(changing), onlyNew) {
		if !seen[path] {
			t.Errorf("%s is listed and is not a command", path)
		}
	}
}

func excepted(path string) bool { _, is := noTable[path]; return is }

func keys(m map[string]string) (list []string) {
	for k := range m {
		list = append(list, k)
	}
	return list
}

// TestCompletionAndManual writes the script of each shell, and the manual twice alike,
// with a page for each command that users see.
func TestCompletionAndManual(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)
	run := func(args ...string) {
		var out bytes.Buffer
		c := Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard, Getenv: func(string) string { return "" }, Now: func() time.Time { return now }}
		if code := c.Main(t.Context(), args); code != 0 || !strings.Contains(out.String(), "accelgate") {
			t.Errorf("%v: exit code %d, %d bytes", args, code, out.Len())
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		run("completion", shell)
	}
	dirs := []string{t.TempDir(), t.TempDir()}
	for _, dir := range dirs {
		run("man", dir)
	}
	var code int
	for _, cmd := range leaves((&Command{Stdout: io.Discard, Getenv: func(string) string { return "" }}).root(&code)) {
		if !cmd.IsAvailableCommand() || cmd.Name() == "help" {
			continue
		}
		page := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		one, err := os.ReadFile(filepath.Join(dirs[0], page))
		if err != nil {
			t.Error(err)
		}
		if other, err := os.ReadFile(filepath.Join(dirs[1], page)); err != nil || !bytes.Equal(one, other) {
			t.Errorf("%s is written twice and differs (%v)", page, err)
		}
		cmd.InitDefaultHelpFlag()
		usage := roff(cmd.UseLine())
		if !bytes.Contains(one, []byte(".SH SYNOPSIS\n.B "+usage+"\n")) || !bytes.HasPrefix(one, []byte(".TH \"ACCELGATE")) {
			t.Errorf("%s lacks its head or %q", page, usage)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if name := `\fB` + roff("--"+f.Name) + `\fR`; !f.Hidden && !bytes.Contains(one, []byte(name)) {
				t.Errorf("%s lacks %s", page, name)
			}
		})
	}
}

// TestBuilders: each command is built by its name, alone as beside all others.
func TestBuilders(t *testing.T) {
	var code int
	c := &Command{Stdout: io.Discard, Getenv: func(string) string { return "" }}
	for name, build := range c.builders() {
		if got := build(&code).Name(); got != name {
			t.Errorf("%s builds %s", name, got)
		}
		if found, _, err := c.root(&code, name).Find([]string{name}); err != nil || found.Name() != name {
			t.Errorf("%s alone: %v", name, err)
		}
	}
}
