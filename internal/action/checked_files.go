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
// baselines, the waivers and the files that suites name. Where one of them is a link
// of the repository, so are the files that it leads to.
func (a *action) checkedFiles(file *config.File, changed []string) (list []string) {
	named := []string{a.in.options.Baselines(file), file.Resolve(cmp.Or(file.Policy.Waivers, waiver.FileName))}
	for i := range file.Suites {
		if of := a.Env.Kinds[file.Suites[i].Kind].Files; of != nil {
			paths, err := of(&file.Suites[i], file.Dir)
			if err == nil { // a suite that cannot be read is judged by nothing
				named = append(named, paths...)
			}
		}
	}
	within := a.targets(a.in.options.Config)
	for _, p := range named {
		if rel, err := a.repositoryPath(p); err == nil {
			within = append(within, rel)
		}
		within = append(within, a.targets(p)...)
	}
	for _, p := range changed {
		if slices.ContainsFunc(within, func(dir string) bool { return covers(dir, p) }) {
			list = append(list, p)
		}
	}
	return list
}

// covers reports whether a path is that of a file or lies in that folder. Of the
// repository itself these are the files, without its folders.
func covers(dir, p string) bool {
	return p == dir || strings.HasPrefix(p, dir+"/") || dir == "." && path.Dir(p) == "."
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
