package doctor

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
	"github.com/accelgate/accelgate/internal/worker"
)

// hosts are where a call measures.
type hosts struct {
	labels  []string // of runners
	named   bool     // the labels name hosts, too
	unknown string   // why the labels are not known
	lacks   string   // why the call has no labels, after the name of its file
	or      string   // what can be written in place of the input hosts
}

// measures looks whether a call of gate.yml can measure on its hosts.
func (l *look) measures(c call) {
	h := l.hosts(c)
	if h.lacks != "" {
		l.add("workflow", Error, l.where(c)+" "+h.lacks, fmt.Sprintf("write hosts: '[\"%s\"]'%s", cmp.Or(l.host.Label, "LABEL"), h.or))
	}
	for _, label := range h.labels {
		if err := bench.CheckLabel(label); err != nil && h.named {
			before, fix := cut(err.Error())
			l.add("workflow", Error, l.where(c)+" measures on a "+before, fix+", and give the runner this label")
		}
	}
	if s := l.server(); s != "github.com" && !strings.HasSuffix(s, ".ghe.com") {
		l.add("workflow", Error, fmt.Sprintf("%s calls gate.yml, which uploads artifacts in a way that GitHub Enterprise Server refuses", l.where(c)),
			"write one job that measures and posts, as docs/recipes.md does for GitHub Enterprise Server")
	}
}

// texts finds inputs that are lists or mappings: GitHub takes text, numbers and booleans.
func (l *look) texts(c call) {
	for _, name := range slices.Sorted(maps.Keys(c.lists)) {
		fix := "write its value as one text"
		if h := l.hosts(c); name == "hosts" && len(h.labels) > 0 {
			list, err := json.Marshal(h.labels)
			if err == nil {
				fix = fmt.Sprintf("write hosts: '%s'", list)
			}
		}
		l.add("workflow", Error, fmt.Sprintf("%s: the input %s is a list or mapping, and GitHub takes text, so it does not start the workflow",
			c.lists[name], text.Quote(name, 60)), fix)
	}
}

// hosts finds the labels of the runners that a call measures on.
func (l *look) hosts(c call) hosts {
	switch given := c.with["hosts"].(type) {
	case nil:
	case []any: // which GitHub refuses
		h := hosts{unknown: "writes hosts as a list"}
		for _, label := range given {
			h.labels = append(h.labels, fmt.Sprint(label))
		}
		return h
	case string:
		var labels []string
		switch {
		case strings.Contains(given, "${{"):
			return hosts{unknown: "computes hosts by an expression"}
		case given != "" && json.Unmarshal([]byte(given), &labels) != nil:
			return hosts{lacks: "has the hosts " + text.Quote(given, 60) + ", which is no JSON list of labels"}
		case len(labels) > 0:
			return hosts{labels: labels, named: true}
		}
	default:
		return hosts{lacks: "has hosts that are no JSON list of labels"}
	}
	return l.configured(c)
}

// configured finds the labels of the runners of a configuration.
func (l *look) configured(c call) (h hosts) {
	path := l.configurationOf(c)
	if strings.Contains(path, "${{") {
		return hosts{unknown: "computes the name of its configuration by an expression"}
	}
	file, err := config.Load(path)
	name := l.configName(c)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return hosts{lacks: "names no hosts, and there is no " + name}
	case err != nil:
		return hosts{unknown: "takes its hosts from " + name + ", which cannot be read"}
	case len(file.Runners) == 0:
		return hosts{lacks: "names no hosts, and " + name + " no runners",
			or: fmt.Sprintf(", or runners: [{host: %s}] in %s", l.host.Label, name)}
	}
	for _, r := range file.Runners {
		if r.RunsOn.OnCluster() {
			continue
		}
		of := slices.DeleteFunc(slices.Clone(r.RunsOn.Labels), func(label string) bool { return label == "self-hosted" })
		if len(of) == 0 {
			of = []string{r.Host}
		}
		h.labels = append(h.labels, of...)
	}
	if h.labels == nil {
		h.lacks = "names no hosts, and all runners of " + name + " belong to a batch system, which the workflow does not start"
		h.or = ", or start them by accelgate plan --for slurm (docs/clusters.md)"
	}
	return h
}

// builds reports whether the reference is a branch. A commit may be that of a release.
func (c call) builds() bool {
	return c.ref != "" && !release.MatchString(c.ref) && !commit.MatchString(c.ref)
}

var commit = lazyregexp.New(`^[0-9a-f]{40}$`)

// here reports whether a call measures on this host. A step that names no host may.
func (l *look) here(c call) bool {
	if c.workflow == "gate.yml" {
		return slices.Contains(l.hosts(c).labels, l.host.Label)
	}
	label := c.with["host-label"]
	return c.workflow == upstream.String()+"/native" && (label == nil || label == l.host.Label)
}

// builder looks for Go on a host that measures by a branch: there the job builds accelgate from source.
func (l *look) builder() {
	for _, c := range l.calls {
		if c.builds() && l.here(c) {
			if _, err := worker.Find("go", l.Environ); err != nil {
				l.add("programs", Error, fmt.Sprintf("no folder of PATH has \"go\", which %s needs here: @%s is not a release, so the job builds accelgate", c.file, c.ref),
					"install Go from https://go.dev/dl, and add its folder to PATH; that of a runner stands in its file .path")
			}
			return
		}
	}
}

// ofGitHub matches the labels of runners that GitHub hosts, which no repository lists.
var ofGitHub = lazyregexp.New(`^(ubuntu|windows|macos)-(latest|[0-9.]+)(-.*)?$`)

// elsewhereMeasured looks whether this host is one of those that measure.
func (l *look) elsewhereMeasured() {
	var labels []string
	for _, c := range l.calls {
		if c.workflow != "gate.yml" {
			continue
		}
		h := l.hosts(c)
		if h.unknown != "" && h.labels == nil || slices.Contains(h.labels, l.host.Label) {
			return
		}
		labels = append(labels, h.labels...)
	}
	if len(labels) > 0 && l.host.Label != "" {
		l.add("workflow", Unknown,
			fmt.Sprintf("no workflow measures on %s, so what stands here of this host holds for no runner", text.Quote(l.host.Label, 60)),
			"on the runner, type accelgate doctor --host-label "+text.ShellWord(labels[0]))
	}
}
