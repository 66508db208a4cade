package doctor

import (
	"bytes"
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

// workflow is a file of .github/workflows.
type workflow struct {
	file    string
	events  []string
	paths   bool // pull requests start it by the files that they change
	calls   []call
	locals  []string // the files beside it that its jobs call
	refused []use
}

// use is a value of uses that GitHub does not start.
type use struct{ at, value, instead string }

// workflowFile is a workflow as far as it is looked at.
type workflowFile struct {
	Name        string
	On          any
	Permissions any
	Jobs        map[string]struct {
		Uses        string
		RunsOn      any `json:"runs-on"`
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
	maxNested    = 10 // levels of workflows that call others
	maxBytes     = 1 << 20
)

// What uses can be. GitHub does not distinguish capitals in names of owners and repositories.
var (
	oursCalled  = lazyregexp.New(`^(?i:accelgate/accelgate)/\.github/workflows/(gate|forks|chat|pages)\.yml@([A-Za-z0-9._/-]+)$`)
	localCalled = lazyregexp.New(`^\./\.github/workflows/([^/@]+\.ya?ml)$`)
	actionUsed  = lazyregexp.New(`^(?i:accelgate/accelgate)(/native)?@([A-Za-z0-9._/-]+)$`)
	ours        = lazyregexp.New(`^(?i:accelgate/accelgate)(/|@|$)`)
)

// posts reports whether a step with these inputs judges and writes a check.
func posts(with map[string]any) bool {
	mode, _ := with["mode"].(string)
	return fmt.Sprint(with["publish"]) != "false" && mode != "plan" && mode != "base"
}

// gates reports whether the call writes the check that branch protection requires.
func (c call) gates() bool { return c.workflow == "gate.yml" || c.isAction() }

func (c call) isAction() bool { return strings.HasPrefix(c.workflow, "accelgate/") }

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

// parse reads the workflows. Those that are none become findings.
func (l *look) parse() {
	files, _ := filepath.Glob(filepath.Join(l.Dir, ".github", "workflows", "*.y*ml"))
	var all []workflow
	for _, path := range files[:min(len(files), maxWorkflows)] {
		data, err := readBounded(path)
		if err != nil || !bytes.Contains(bytes.ToLower(data), []byte("accelgate")) && !bytes.Contains(data, []byte("uses: ./.github/workflows/")) {
			continue
		}
		w, err := workflowOf(filepath.Base(path), data)
		if err != nil {
			l.unread = append(l.unread, err)
		}
		all = append(all, w)
	}
	l.parsed = started(all)
	for _, w := range l.parsed {
		for _, c := range w.calls {
			if c.ref != "" || !slices.ContainsFunc(all, c.wrapped) {
				l.calls = append(l.calls, c)
			}
		}
	}
}

// wrapped reports whether a local call is of a repository's own workflow of the same name, which calls ours.
func (c call) wrapped(w workflow) bool {
	return w.file == c.workflow && slices.ContainsFunc(w.calls, func(c call) bool { return !c.isAction() })
}

// started gives workflows that others call the events of those.
func started(all []workflow) []workflow {
	for range maxNested {
		for i, w := range all {
			for _, by := range all {
				if slices.Contains(w.events, "workflow_call") && slices.Contains(by.locals, w.file) {
					all[i].events = slices.Compact(slices.Sorted(slices.Values(slices.Concat(all[i].events, by.events))))
					all[i].paths = all[i].paths || by.paths
				}
			}
		}
	}
	for i, w := range all {
		for j := range w.calls {
			all[i].calls[j].events = w.events
		}
	}
	return all
}

func workflowOf(file string, data []byte) (w workflow, err error) {
	document, err := config.ToJSON(file, data)
	if err != nil {
		return w, err
	}
	var read workflowFile
	if err := json.Unmarshal(document, &read); err != nil {
		what := "it is of another form"
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) && wrong.Field != "" {
			what = fmt.Sprintf("%s is of type %s", text.Quote(strings.ToLower(wrong.Field), 60), wrong.Value)
		}
		return w, fmt.Errorf("%s is not a workflow: %s", file, what)
	}
	w = workflow{file: file, events: eventsOf(read.On), paths: byPaths(read.On)}
	for _, id := range slices.Sorted(maps.Keys(read.Jobs)) {
		w.take(id, read, func(path string) string {
			return config.PositionIn(file, data, fmt.Sprintf("jobs[%q]", id)+path).String()
		})
	}
	return w, nil
}

// take adds the calls of a job; at is where a path below it stands.
func (w *workflow) take(id string, read workflowFile, at func(path string) string) {
	job := read.Jobs[id]
	for i, step := range job.Steps {
		m := actionUsed.FindStringSubmatch(step.Uses)
		switch {
		case m != nil && posts(step.With):
			w.calls = append(w.calls, call{file: w.file, id: id, workflow: upstream.String() + m[1], ref: m[2], with: step.With})
		case m == nil && ours.MatchString(step.Uses):
			w.refused = append(w.refused, use{at(fmt.Sprintf(".steps[%d].uses", i)), step.Uses, "in a step, uses: accelgate/accelgate/native@"})
		}
	}
	m, local := oursCalled.FindStringSubmatch(job.Uses), localCalled.FindStringSubmatch(job.Uses)
	switch {
	case m != nil && (job.RunsOn != nil || job.Steps != nil), m == nil && ours.MatchString(job.Uses):
		w.refused = append(w.refused, use{at(".uses"), job.Uses,
			"in a job without steps and runs-on, uses: accelgate/accelgate/.github/workflows/gate.yml@"})
		return
	case m != nil:
		w.calls = append(w.calls, w.call(id, m[1]+".yml", m[2], read, at))
	case local != nil:
		w.locals = append(w.locals, local[1])
		if _, known := reusable[local[1]]; known {
			w.calls = append(w.calls, w.call(id, local[1], "", read, at))
		}
	}
}

// call is that of a job.
func (w *workflow) call(id, name, ref string, read workflowFile, at func(path string) string) call {
	job := read.Jobs[id]
	c := call{file: w.file, id: id, workflow: name, ref: ref, with: job.With, token: passesToken(job.Secrets), lists: map[string]string{}}
	for name, value := range job.With {
		if !isScalar(value) {
			c.lists[name] = at(fmt.Sprintf(".with[%q]", name))
		}
	}
	permissions := job.Permissions
	if permissions == nil {
		permissions = read.Permissions
	}
	c.granted, c.all = granted(permissions)
	return c
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

// byPaths reports whether pull requests start a workflow only if they change certain files.
func byPaths(on any) bool {
	events, _ := on.(map[string]any)
	filter, _ := events["pull_request"].(map[string]any)
	return filter["paths"] != nil || filter["paths-ignore"] != nil
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
