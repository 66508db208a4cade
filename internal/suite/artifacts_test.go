package suite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite"
)

// tree makes files of names and contents, and returns their folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestDeclared: the digest is of names and contents, wherever the checkout is
// and whenever the files were written, and of nothing that was not declared.
func TestDeclared(t *testing.T) {
	t.Parallel()
	files := map[string]string{"build/engine": "v1", "models/a.gguf": "weights", "src/x.py": "1", "src/deep/y.py": "2", "README": "hello"}
	globs := []string{"build/engine", "models/*.gguf", "src"}
	declared := func(change map[string]string, globs ...string) string {
		t.Helper()
		all := map[string]string{}
		for name, text := range files {
			all[name] = text
		}
		for name, text := range change {
			if all[name] = text; text == "" {
				delete(all, name)
			}
		}
		c := suite.Contents{Dir: tree(t, all)}
		d, err := c.Declared(globs)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := c.Declared(globs); err != nil || again != d {
			t.Errorf("the second time: %s, %v", again, err)
		}
		return d
	}
	want := declared(nil, globs...)
	if got := declared(map[string]string{"README": "bye", "models/notes.txt": "new"}, globs...); got != want {
		t.Error("what was not declared counts")
	}
	for name, change := range map[string]map[string]string{
		"content":                   {"build/engine": "v2"},
		"a file deep in a folder":   {"src/deep/y.py": "3"},
		"another file of a glob":    {"models/b.gguf": "more"},
		"another file in a folder":  {"src/deep/z.py": "z"},
		"a file that is gone":       {"src/x.py": ""},
		"a file with another name":  {"src/x.py": "", "src/xx.py": "1"},
		"contents that were traded": {"src/x.py": "2", "src/deep/y.py": "1"},
	} {
		if got := declared(change, globs...); got == want {
			t.Errorf("%s: the digest is the same", name)
		}
	}
	if got := declared(nil, globs[0], globs[2]); got == want {
		t.Error("fewer globs: the digest is the same")
	}
}

func TestDeclaredRefuses(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"[odd]/a": "1", "d/a": "1"})
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	link("nowhere", "broken")
	link(filepath.Join(dir, "d"), "d2")
	if err := os.Mkdir(filepath.Join(dir, "e"), 0o755); err != nil {
		t.Fatal(err)
	}
	link(filepath.Join(dir, "d"), "e/folder")
	c := suite.Contents{Dir: dir}
	if _, err := c.Declared([]string{"none*"}); !errors.Is(err, suite.ErrNoArtifact) || !strings.Contains(err.Error(), `"none*"`) {
		t.Errorf("a glob of nothing: %v", err)
	}
	for _, glob := range []string{"broken", "e", "[", "a\x00"} {
		if d, err := c.Declared([]string{glob}); err == nil {
			t.Errorf("%q: %s, want an error", glob, d)
		}
	}
	if _, err := c.Declared([]string{"d2"}); err != nil {
		t.Errorf("a link to a folder: %v", err)
	}
	odd := suite.Contents{Dir: filepath.Join(dir, "[odd]")}
	if _, err := odd.Declared([]string{"a"}); err != nil {
		t.Errorf("below a folder with brackets: %v", err)
	}
}
