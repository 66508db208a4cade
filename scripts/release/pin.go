package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	commitForm = regexp.MustCompile(`^[0-9a-f]{40}$`)
	imageForm  = regexp.MustCompile(`^[a-z0-9.:/_-]+@sha256:[0-9a-f]{64}$`)
	sumForm    = regexp.MustCompile(`(?m)^[0-9a-f]{64}  accelgate_[a-z0-9_]+(\.exe)?$`)
	called     = []string{"gate.yml", "forks.yml", "chat.yml", "pages.yml"}
	ownAction  = regexp.MustCompile(`(?m)uses: (accelgate/accelgate(?:/native|/site)?)@main$`)
)

// notes returns the section of CHANGELOG.md that a release needs.
func notes(root, version string) (string, error) {
	data, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	for section := range strings.SplitSeq(string(data), "\n## ") {
		title, text, _ := strings.Cut(section, "\n")
		if name, _, _ := strings.Cut(title, " "); name == version && strings.TrimSpace(text) != "" {
			return strings.TrimSpace(text) + "\n", nil
		}
	}
	return "", fmt.Errorf("CHANGELOG.md has no section for %s: rename Unreleased to %[1]s in a pull request first", version)
}

// pinActions makes both actions use what was built: action.yml the image, native/action.yml the binaries.
func pinActions(root, version, sums, image, only string) error {
	chosen, err := targets(only)
	if err != nil {
		return err
	}
	if !imageForm.MatchString(image) {
		return fmt.Errorf("-image is %q: give NAME@sha256:DIGEST", image)
	}
	data, err := os.ReadFile(sums)
	if err != nil {
		return err
	}
	if found := sumForm.FindAll(data, -1); len(found) != len(chosen) || strings.Count(string(data), "\n") != len(chosen) {
		return fmt.Errorf("%s has %d checksums, want %d and nothing else", sums, len(found), len(chosen))
	}
	if err := replaceOnce(filepath.Join(root, "action.yml"), "  image: Dockerfile\n", "  image: docker://"+image+"\n"); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "native", "release.txt"), []byte("# version: "+version+"\n"+string(data)), 0o644)
}

func replaceOnce(path, from, to string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if n := strings.Count(string(data), from); n != 1 {
		return fmt.Errorf("%s has %q %d times, want once", path, strings.TrimSpace(from), n)
	}
	return os.WriteFile(path, []byte(strings.Replace(string(data), from, to, 1)), 0o644)
}

// pinWorkflows makes the called workflows use the actions of a commit instead of the branch main.
func pinWorkflows(root, version, commit string) error {
	if !commitForm.MatchString(commit) {
		return fmt.Errorf("-commit is %q: give all 40 digits", commit)
	}
	for _, name := range called {
		path := filepath.Join(root, ".github", "workflows", name)
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := ownAction.ReplaceAllString(string(data), "uses: $1@"+commit+" # "+version)
		if text == string(data) || strings.Contains(text, "@main") {
			return errors.New(path + " does not name the actions at main, or names another thing there")
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
