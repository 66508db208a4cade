package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// Configuration is one that is checked, and the part of it that a workflow measures.
type Configuration struct {
	Path    string
	Suites  string // names, separated by commas; "" for all
	Profile string
	by      string // the workflow that names it; "" for the command line
}

// Checked is what a configuration has.
type Checked struct {
	Has      string
	Absent   []string // programs that this host lacks
	Warnings []string
}

// configurations are that of the command line, unless it is an absent default, and those of the workflows. There is at
// least one, and the first finds out the host.
func (l *look) configurations() (all []Configuration) {
	for _, c := range l.calls {
		suites, _ := c.with["suite"].(string)
		profile, _ := c.with["profile"].(string)
		one := Configuration{l.configurationOf(c), suites, profile, c.file}
		if c.gates() && !strings.Contains(one.Path+suites+profile, "${{") && !slices.ContainsFunc(all, one.same) {
			all = append(all, one)
		}
	}
	typed := Configuration{Path: filepath.Clean(l.Config)}
	if _, err := os.Stat(typed.Path); l.Typed || err == nil || len(all) == 0 {
		all = slices.Insert(slices.DeleteFunc(all, typed.same), 0, typed)
	}
	return all
}

func (c Configuration) same(o Configuration) bool {
	path, err := filepath.Abs(c.Path)
	other, wrong := filepath.Abs(o.Path)
	return err == nil && wrong == nil && path == other && c.Suites == o.Suites && c.Profile == o.Profile
}

// configuration reads each configuration as run does.
func (l *look) configuration(ctx context.Context) {
	var right, lacking []string
	for _, c := range l.configurations() {
		found, err := l.Check(ctx, c)
		if err != nil {
			l.wrong(c, err)
			continue
		}
		if !slices.Contains(right, c.Path) { // another part of it is no news
			l.ok("configuration", "%s", found.Has)
			for _, w := range found.Warnings {
				before, fix := cut(w)
				l.add("configuration", Warning, before, fix)
			}
		}
		right, lacking = append(right, c.Path), append(lacking, found.Absent...)
	}
	slices.Sort(lacking)
	for _, program := range slices.Compact(lacking) {
		l.add("programs", Error, "no folder of PATH has "+program,
			"install it, or type PATH=FOLDER:$PATH accelgate doctor with its folder; that of a runner stands in its file .path")
	}
}

// wrong reports the first mistake of a configuration.
func (l *look) wrong(c Configuration, err error) {
	first, _, more := strings.Cut(err.Error(), "\n")
	if more {
		first += " (and more)"
	}
	step := "accelgate config check"
	if c.Path != "accelgate.yaml" {
		step += " " + text.ShellWord(c.Path)
	}
	if c.by != "" {
		first = fmt.Sprintf("%s measures by it: %s", c.by, first)
	}
	l.add("configuration", Error, first, "correct it until this passes: "+step)
}
