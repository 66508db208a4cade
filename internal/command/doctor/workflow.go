package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// call is a job of the repository that calls one of our workflows, or a step that uses one of our actions.
type call struct {
	file     string // accelgate.yml
	id       string // of the job
	workflow string // gate.yml, or accelgate/accelgate/native
	ref      string // v1; "" in this project's own repository
	with     map[string]any
	granted  map[string]string // permissions; nil for those of the repository's settings
	all      bool              // write-all
	events   []string
	token    bool              // a secret token is passed on
	lists    map[string]string // where inputs stand that are no text, by name
}

// workflowFile is a workflow as far as it is looked at.
type workflowFile struct {
	Name        string
	On          any
	Permissions any
	Jobs        map[string]struct {
		Uses        string
		With        map[string]any
		Secrets     any
		Permissions any
		Steps       []struct {
			Uses string
			With map[string]any
		}
	}
}

const (
	maxWorkflows = 200
	maxBytes     = 1 << 20
)

// oursCalled finds our workflows in uses.
var oursCalled = lazyregexp.New(`^(?:accelgate/accelgate|\.)/\.github/workflows/(gate|forks|chat|pages)\.yml(?:@([A-Za-z0-9._/-]+))?$`)

// actionUsed finds our actions in the uses of steps.
var actionUsed = lazyregexp.New(`^(accelgate/accelgate(?:/native)?)@([A-Za-z0-9._/-]+)$`)

// posts reports whether a step with these inputs judges and writes a check.
func posts(with map[string]any) bool {
	mode, _ := with["mode"].(string)
	return fmt.Sprint(with["publish"]) != "false" && mode != "plan" && mode != "base"
}

// gates reports whether the call writes the check that branch protection requires.
func (c call) gates() bool { return c.workflow == "gate.yml" || c.isAction() }

func (c call) isAction() bool { return strings.HasPrefix(c.workflow, "accelgate/") }

// workflows looks for the calls in .github/workflows.
func (l *look) workflows(context.Context) {
	files, _ := filepath.Glob(filepath.Join(l.Dir, ".github", "workflows", "*.y*ml"))
	for _, path := range files[:min(len(files), maxWorkflows)] {
		data, err := readBounded(path)
		if err != nil || !bytes.Contains(data, []byte("accelgate")) && !bytes.Contains(data, []byte("/gate.yml")) {
			continue
		}
		calls, err := callsOf(filepath.Base(path), data)
		if err != nil {
			l.add("workflow", Error, err.Error(), "correct the file")
		}
		l.calls = append(l.calls, calls...)
	}
	if !slices.ContainsFunc(l.calls, call.gates) {
		l.add(
			"workflow",
			Warning,
			"no workflow calls gate.yml, so pull requests are not gated",
			"accelgate init, or copy examples/workflows/accelgate.yml",
		)
	}
	l.sharedChecks()
	l.elsewhereMeasured()
	l.builder()
	for _, c := range l.calls {
		if c.isAction() {
			before := len(l.findings)
			if l.outdated(c); len(l.findings) == before {
				l.ok("workflow", "%s judges by the action %s in a job of its own", c.file, c.workflow)
			}
			continue
		}
		if wrong := l.judge(c); wrong == 0 {
			l.ok("workflow", "%s calls %s as this version expects", c.file, c.workflow)
		}
	}
}

func readBounded(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for a writer
		return nil, fs.ErrInvalid
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxBytes))
}

func callsOf(file string, data []byte) ([]call, error) {
	document, err := config.ToJSON(file, data)
	if err != nil {
		return nil, err
	}
	var w workflowFile
	if err := json.Unmarshal(document, &w); err != nil {
		what := "it is of another form"
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) && wrong.Field != "" {
			what = fmt.Sprintf("%s is of type %s", text.Quote(strings.ToLower(wrong.Field), 60), wrong.Value)
		}
		return nil, fmt.Errorf("%s is not a workflow: %s", file, what)
	}
	var calls []call
	for _, id := range slices.Sorted(maps.Keys(w.Jobs)) {
		job := w.Jobs[id]
		for _, step := range job.Steps {
			if m := actionUsed.FindStringSubmatch(step.Uses); m != nil && posts(step.With) {
				calls = append(calls, call{file: file, id: id, workflow: m[1], ref: m[2], with: step.With, events: eventsOf(w.On)})
			}
		}
		m := oursCalled.FindStringSubmatch(job.Uses)
		if m == nil {
			continue
		}
		c := call{file: file, id: id, workflow: m[1] + ".yml", ref: m[2], with: job.With, events: eventsOf(w.On), lists: map[string]string{}}
		for name, value := range job.With {
			if !isScalar(value) {
				c.lists[name] = config.PositionIn(file, data, fmt.Sprintf("jobs[%q].with[%q]", id, name)).String()
			}
		}
		c.token = passesToken(job.Secrets)
		permissions := job.Permissions
		if permissions == nil {
			permissions = w.Permissions
		}
		c.granted, c.all = granted(permissions)
		calls = append(calls, c)
	}
	return calls, nil
}

func isScalar(value any) bool {
	switch value.(type) {
	case []any, map[string]any:
		return false
	}
	return true
}

// passesToken reads the forms of secrets; which ones inherit passes on is not known.
func passesToken(secrets any) bool {
	each, _ := secrets.(map[string]any)
	return secrets == "inherit" || each["token"] != nil
}

// eventsOf reads the three forms of on.
func eventsOf(on any) (events []string) {
	switch on := on.(type) {
	case string:
		return []string{on}
	case []any:
		for _, e := range on {
			events = append(events, fmt.Sprint(e))
		}
	case map[string]any:
		return slices.Sorted(maps.Keys(on))
	}
	return events
}

// granted reads the forms of permissions; all is write-all.
func granted(permissions any) (each map[string]string, all bool) {
	switch p := permissions.(type) {
	case string:
		return map[string]string{}, p == "write-all"
	case map[string]any:
		each = map[string]string{}
		for name, level := range p {
			each[name] = fmt.Sprint(level)
		}
	}
	return each, false
}
