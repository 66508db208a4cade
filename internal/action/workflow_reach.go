package action

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// Bounds for reading the workflows of a checkout.
const (
	workflowFolder = ".github/workflows"
	maxWorkflows   = 500
	maxWorkflow    = 1 << 20 // bytes
)

// gateFiles are the workflows of this gate as paths in the repository, with the local
// workflows and actions that they reach: the one that runs, and those that answer
// comments and judge forks. The checkout says what they reach. Where a pull request
// makes one reach something else, that one has changed.
func (a *action) gateFiles() []string {
	root, err := os.OpenRoot(cmp.Or(a.Getenv("GITHUB_WORKSPACE"), "."))
	if err != nil {
		return a.workflowFile()
	}
	defer root.Close()
	r := reach{root: root, own: a.event.Repository(), ours: []string{"accelgate/accelgate", a.Getenv("GITHUB_ACTION_REPOSITORY")}}
	found := a.workflowFile()
	for _, name := range found {
		found = append(found, r.from(name).paths...)
	}
	entries, _ := fs.ReadDir(root.FS(), workflowFolder) // none where there is no such folder
	for _, e := range entries[:min(len(entries), maxWorkflows)] {
		name := path.Join(workflowFolder, e.Name())
		if w := r.from(name); w.ours {
			found = append(append(found, name), w.paths...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// reach follows what workflows and actions of a checkout use.
type reach struct {
	root *os.Root
	own  string   // OWNER/NAME of the repository
	ours []string // repositories of accelgate
}

// reached is what one workflow uses, at any depth.
type reached struct {
	paths []string // workflows, and folders of actions
	ours  bool     // one is accelgate's
}

func (r *reach) from(workflow string) (all reached) {
	for next := []string{workflow}; len(next) > 0 && len(all.paths) < maxWorkflows; next = next[1:] {
		for _, used := range usesOf(r.read(next[0])) {
			local, ok := r.local(used)
			switch {
			case !ok:
				all.ours = all.ours || r.isOurs(used)
			case local != workflow && !slices.Contains(all.paths, local):
				all.paths, next = append(all.paths, local), append(next, local)
			}
		}
	}
	return all
}

// local returns the path in the checkout of "./PATH", and of OWNER/NAME/PATH@REF of this
// repository, of which the next runs take the changed one.
func (r *reach) local(used string) (string, bool) {
	below, ok := strings.CutPrefix(used, "./")
	if !ok {
		below, _, _ = strings.Cut(used, "@")
		if below, ok = strings.CutPrefix(below, r.own+"/"); !ok || r.own == "" {
			return "", false
		}
	}
	below = path.Clean(below)
	return below, fs.ValidPath(below)
}

func (r *reach) isOurs(used string) bool {
	return slices.ContainsFunc(r.ours, func(repository string) bool {
		rest, ok := strings.CutPrefix(used, repository)
		return ok && repository != "" && (rest == "" || rest[0] == '/' || rest[0] == '@')
	})
}

// read returns a workflow, or the description of the action in a folder; nil where the
// checkout has none that can be read.
func (r *reach) read(name string) []byte {
	for _, file := range []string{name, path.Join(name, "action.yml"), path.Join(name, "action.yaml")} {
		if info, err := r.root.Stat(file); err == nil && info.Mode().IsRegular() && info.Size() <= maxWorkflow {
			data, _ := r.root.ReadFile(file)
			return data
		}
	}
	return nil
}

// usesText finds uses in a text that is not read as YAML.
var usesText = lazyregexp.New(`(?m)\buses["']?[ \t]*:[ \t]*["']?([^\s"',}]+)`)

// usesOf returns the values of all keys "uses".
func usesOf(data []byte) (list []string) {
	var document any
	if text, err := config.ToJSON("", data); err == nil && json.Unmarshal(text, &document) == nil {
		return usesIn(document, nil)
	}
	for _, m := range usesText.FindAllStringSubmatch(string(data), -1) {
		list = append(list, m[1])
	}
	return list
}

func usesIn(value any, list []string) []string {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			list = usesIn(one, list)
		}
	case map[string]any:
		for key, one := range v {
			if text, ok := one.(string); ok && key == "uses" {
				list = append(list, text)
			}
			list = usesIn(one, list)
		}
	}
	return list
}
