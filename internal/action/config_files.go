package action

import (
	"cmp"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/reference/waiver"
)

// checkedFiles are those of the changed files by which something is judged: the
// baselines, the waivers, the quarantine, the files that suites name and the workflows of the gate, whose
// inputs judge too. Where one of them is a link of the repository, so are the files
// that it leads to.
func (a *action) checkedFiles(file *config.File, changed []string) (list []string) {
	named := []string{
		a.in.options.Reference(file).Folder(),
		file.Resolve(cmp.Or(file.Policy.Waivers, waiver.FileName)),
		file.Resolve(cmp.Or(file.Policy.Quarantine, waiver.QuarantineName)),
	}
	for i := range file.Suites {
		if of := a.Env.Kinds[file.Suites[i].Kind].Files; of != nil {
			paths, err := of(&file.Suites[i], file.Dir)
			if err == nil { // a suite that cannot be read is judged by nothing
				named = append(named, paths...)
			}
		}
	}
	within := a.targets(a.in.options.Config)
	for _, name := range a.gateFiles() {
		within = append(append(within, name),
			a.targets(filepath.Join(cmp.Or(a.Getenv("GITHUB_WORKSPACE"), "."), filepath.FromSlash(name)))...)
	}
	configuration, _ := a.repositoryPath(a.in.options.Config) // whose values are compared by themselves
	for _, p := range named {
		if rel, err := a.repositoryPath(p); err == nil {
			within = append(within, rel)
		}
		within = append(within, a.targets(p)...)
	}
	for _, p := range changed {
		above := strings.HasPrefix(configuration, p+"/")
		if above || slices.ContainsFunc(within, func(dir string) bool { return covers(dir, p) }) {
			list = append(list, p)
		}
	}
	return list
}

// covers reports whether a changed path is that of a file, lies in that folder or is a
// submodule or link above it. Of the repository itself these are the files, without its
// folders.
func covers(dir, p string) bool {
	return p == dir || strings.HasPrefix(p, dir+"/") || strings.HasPrefix(dir, p+"/") || dir == "." && path.Dir(p) == "."
}

// workflowFile returns the file of the workflow that runs, where the runner names it:
// GITHUB_WORKFLOW_REF is OWNER/NAME/PATH@REF.
func (a *action) workflowFile() []string {
	name, _, _ := strings.Cut(a.Getenv("GITHUB_WORKFLOW_REF"), "@")
	if file, ok := strings.CutPrefix(name, a.event.Repository()+"/"); ok && file != "" {
		return []string{file}
	}
	return nil
}

// maxLinks bounds how many entries of a folder are looked at for links.
const maxLinks = 100_000

// targets returns where a file or folder leads if it is a link or holds links, as
// paths in the repository.
func (a *action) targets(name string) (list []string) {
	add := func(link string) {
		if rel, ok := a.target(link); ok {
			list = append(list, rel)
		}
	}
	if plain, err := a.repositoryPath(name); err == nil {
		if add(name); len(list) == 1 && list[0] == plain {
			list = nil
		}
	}
	seen := 0
	_ = filepath.WalkDir(name, func(p string, d fs.DirEntry, err error) error { // what cannot be read leads nowhere
		if seen++; seen > maxLinks || err != nil {
			return fs.SkipAll
		}
		if d.Type()&fs.ModeSymlink != 0 {
			add(p)
		}
		return nil
	})
	return list
}

// target returns the path in the repository of what a link leads to.
func (a *action) target(link string) (rel string, ok bool) {
	root, err := filepath.Abs(cmp.Or(a.Getenv("GITHUB_WORKSPACE"), "."))
	target, linkErr := filepath.Abs(link)
	if err == nil && linkErr == nil {
		root, err = filepath.EvalSymlinks(root)
		target, linkErr = filepath.EvalSymlinks(target)
	}
	if err != nil || linkErr != nil {
		return "", false
	}
	rel, err = filepath.Rel(root, target)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}
