package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// reference finds how users' files name accelgate's workflows and actions.
var reference = regexp.MustCompile(`(accelgate/accelgate(?:/native|/site|/\.github/workflows/[a-z]+\.yml)?)@(main|v[0-9]+)\b`)

// majorOf is the tag that moves with a release, such as v1; "" for a pre-release, with which none moves.
func majorOf(version string) string {
	if strings.Contains(version, "-") {
		return ""
	}
	major, _, _ := strings.Cut(version, ".")
	return major
}

// userFiles are the files that users read or copy, and init's workflow.
func userFiles(root string) (all []string, err error) {
	all = []string{filepath.Join(root, "README.md"), filepath.Join(root, "internal", "command", "setup", "files.go")}
	for _, folder := range []string{"docs", filepath.Join("examples", "workflows")} {
		err = filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.Contains(".md .yml", filepath.Ext(path)) {
				all = append(all, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// prepare does what a pull request does before a release: it names the section of CHANGELOG.md, and writes the tag that will
// move into all files that users copy. It returns the places whose sentences hold before the first release only.
func prepare(root, version, day string) (left []string, err error) {
	if err := replaceOnce(filepath.Join(root, "CHANGELOG.md"), "\n## Unreleased\n", "\n## Unreleased\n\n## "+version+" - "+day+"\n"); err != nil {
		return nil, err
	}
	files, err := userFiles(root)
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		text := string(data)
		if major := majorOf(version); major != "" {
			text = reference.ReplaceAllString(text, "$1@"+major)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, err
		}
		number := 0
		for line := range strings.Lines(text) {
			if number++; strings.Contains(line, "ntil the first") && strings.Contains(line, "release") {
				name, _ := filepath.Rel(root, path)
				left = append(left, fmt.Sprintf("%s:%d", filepath.ToSlash(name), number))
			}
		}
	}
	return left, nil
}
