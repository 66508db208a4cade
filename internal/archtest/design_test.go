package archtest

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var entry = regexp.MustCompile(`(?m)^( +)([a-z]+)/ `)

// TestTreeOfDesignIsComplete: docs/design.md has a line for each package, and no line for a folder that is gone.
func TestTreeOfDesignIsComplete(t *testing.T) {
	_, tree, _ := strings.Cut(content(t, "docs/design.md"), "\ninternal/\n")
	tree, _, _ = strings.Cut(tree, "```")
	var listed, above []string
	for _, m := range entry.FindAllStringSubmatch(tree, -1) {
		depth := len(m[1])/2 - 1
		if depth > len(above) {
			continue // the second line of a description
		}
		above = append(above[:depth:depth], m[2])
		listed = append(listed, path.Join(above...))
	}
	all := packages(t)
	for pkg := range all {
		if !slices.Contains(listed, pkg) && !strings.HasPrefix(pkg, "cmd/") {
			t.Errorf("docs/design.md has no line for internal/%s", pkg)
		}
	}
	all["archtest"], all["testtier"] = nil, nil // tests, or for tests
	for _, name := range listed {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(pkg string) bool { return within(pkg, name) || pkg == name }) {
			t.Errorf("docs/design.md has a line for internal/%s, which is not there: remove it", name)
		}
	}
}

// rooms of the picture that stand for several packages.
var rooms = map[string][]string{"tools": {"bisect", "calibrate", "selftest", "autobaseline"}, "bench": {"bench", "stats"},
	"kinds": {"suite/analysis", "suite/cases", "suite/endpoint", "suite/exec", "suite/kernels", "suite/models"}}

var label = regexp.MustCompile(`\[[^\]]*\]`)

// TestPictureOfDesignShowsImports: each arrow of the picture in docs/design.md is an import.
func TestPictureOfDesignShowsImports(t *testing.T) {
	_, picture, _ := strings.Cut(content(t, "docs/design.md"), "flowchart TD\n")
	picture, _, _ = strings.Cut(picture, "```")
	all, arrows := packages(t), 0
	for line := range strings.Lines(label.ReplaceAllString(picture, "")) {
		nodes := strings.Split(strings.TrimSpace(line), " --> ")
		for i := range nodes[1:] {
			for _, to := range strings.Split(nodes[i+1], " & ") {
				arrows++
				if !imports(all, nodes[i], to) {
					t.Errorf("docs/design.md draws an arrow from %s to %s, and no package imports so: remove it", nodes[i], to)
				}
			}
		}
	}
	if arrows < 20 {
		t.Errorf("%d arrows, want 20 or more", arrows)
	}
}

func imports(all map[string][]string, from, to string) bool {
	for pkg, list := range all {
		if within(pkg, from) && slices.ContainsFunc(list, func(i string) bool { return within(i, to) }) {
			return true
		}
	}
	return false
}

// within reports whether a package belongs to a room of the picture.
func within(pkg, room string) bool {
	if room == "suite" {
		return pkg == room
	}
	names := rooms[room]
	if names == nil {
		names = []string{room}
	}
	return slices.ContainsFunc(names, func(name string) bool { return pkg == name || strings.HasPrefix(pkg, name+"/") })
}

// packages returns our packages that are not tests alone, with the ones that they import.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		list := all[s.pkg]
		for _, i := range s.imports {
			if target, ours := strings.CutPrefix(i, module+"internal/"); ours {
				list = append(list, target)
			}
		}
		all[s.pkg] = list
	}
	return all
}
