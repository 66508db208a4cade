package actions_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
)

// runner reads what a step prints the way the runner does, as far as this
// package relies on it: src/Runner.Common/ActionCommand.cs and
// src/Runner.Worker/ActionCommandManager.cs of actions/runner.
type runner struct {
	obeyed []string // "name props data" of every command but stop and resume
	stop   string   // token that ends stop-commands
}

var registered = map[string]bool{
	"add-mask": true, "add-matcher": true, "add-path": true, "debug": true, "echo": true, "endgroup": true, "error": true, "group": true,
	"notice": true, "remove-matcher": true, "save-state": true, "set-env": true, "set-output": true, "stop-commands": true, "warning": true,
}

func (r *runner) read(output string) {
	output = strings.ReplaceAll(output, "\r\n", "\n")
	for _, line := range strings.FieldsFunc(output, func(c rune) bool { return c == '\n' || c == '\r' }) {
		r.line(line)
	}
}

func (r *runner) line(line string) {
	name, props, data, ok := r.parseV2(line)
	if !ok {
		name, props, data, ok = r.parseV1(line)
	}
	switch {
	case !ok:
	case r.stop != "":
		if name == r.stop {
			r.stop = ""
		}
	case name == "stop-commands":
		r.stop = strings.ToLower(data)
	default:
		r.obeyed = append(r.obeyed, strings.TrimSpace(fmt.Sprintf("%s %s %s", name, props, data)))
	}
}

func (r *runner) known(info string) (name, props string, ok bool) {
	name, props, _ = strings.Cut(info, " ")
	name = strings.ToLower(name)
	return name, props, registered[name] || r.stop != "" && name == r.stop
}

func (r *runner) parseV2(line string) (name, props, data string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::")
	info, data, closed := strings.Cut(rest, "::")
	if !ok || !closed {
		return "", "", "", false
	}
	name, props, ok = r.known(info)
	return name, props, strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%").Replace(data), ok
}

func (r *runner) parseV1(line string) (name, props, data string, ok bool) {
	_, rest, ok := strings.Cut(line, "##[")
	info, data, closed := strings.Cut(rest, "]")
	if !ok || !closed {
		return "", "", "", false
	}
	name, props, ok = r.known(info)
	return name, props, data, ok
}

// obeyed returns the commands that the runner obeys in output.
func obeyed(output string) []string {
	var r runner
	r.read(output)
	return r.obeyed
}

// readFile reads the file of a file command, as in
// src/Runner.Worker/FileCommandManager.cs.
func readFile(t *testing.T, text string) map[string]string {
	t.Helper()
	values := map[string]string{}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		name, delimiter, ok := strings.Cut(lines[i], "<<")
		if lines[i] == "" {
			continue
		}
		if !ok || strings.Contains(name, "=") {
			t.Fatalf("line %q is not NAME<<DELIMITER", lines[i])
		}
		first := i + 1
		for i++; i < len(lines) && lines[i] != delimiter; i++ {
		}
		if i == len(lines) {
			t.Fatalf("delimiter of %s not found", name)
		}
		values[name] = strings.Join(lines[first:i], "\n")
	}
	return values
}

func TestRunnerObeys(t *testing.T) {
	got := obeyed("x\n ::set-output name=a::1%0A2\rlog ##[ADD-PATH]/evil\n::stop-commands::T\n::error::no\n::t::\n::nosuch::\n::debug::yes")
	want := []string{"set-output name=a 1\n2", "add-path  /evil", "debug  yes"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
