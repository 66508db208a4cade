package casefile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// minimal is a case that is fine.
func minimal(name string) string { return fmt.Sprintf(`{"name": %q, "description": "d"}`, name) }

func TestLoad(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files map[string]string // a folder if the name ends in /, a link if the content starts with ->
		cases []string
		err   string // DIR stands for the folder
	}{
		{"sorted", map[string]string{"b.json": minimal("b"), "a.json": minimal("a"), "README.md": "x", "old/": "", "A.JSON": "x"}, []string{"a", "b"}, ""},
		{"one is bad", map[string]string{"a.json": minimal("a"), "b.json": "{", "c.json": minimal("c"), "d.json": `{"name": "d"}`}, []string{"a", "c"},
			"DIR/b.json:1:2: the file ends too early; close what is open, or restore the file from version control\n" +
				"DIR/d.json:1:1: description: is missing; add it"},
		{"same name", map[string]string{"a.json": minimal("a"), "b.json": minimal("a")}, []string{"a"},
			`DIR/b.json:1:10: name: "a" is not the file's stem "b", by which the operators are found; write "b", or rename the file` + "\n" +
				`DIR/b.json: name: "a" is the name of DIR/a.json too; give each case a name of its own`},
		{"empty", map[string]string{"README.md": "x"}, nil, "DIR: holds no *.json file, so there is no case; name the folder that holds the case files"},
		{"link", map[string]string{"a.json": minimal("a"), "b.json": "->a.json"}, []string{"a"}, "DIR/b.json: is a link, which is not followed; put the file itself here"},
		{"folder", map[string]string{"a.json": minimal("a"), "b.json/": ""}, []string{"a"}, "DIR/b.json: is not a file; move it out of the folder of cases"},
		{"large", map[string]string{"a.json": strings.Repeat(" ", 1<<20+1)}, nil,
			"DIR/a.json: is larger than 1048576 bytes, so it is not a case; move it out of the folder of cases"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, content := range test.files {
				place(t, filepath.Join(dir, name), content, strings.HasSuffix(name, "/"))
			}
			cases, err := casefile.Load(dir)
			var names []string
			for _, c := range cases {
				names = append(names, c.Name)
			}
			if !slices.Equal(names, test.cases) {
				t.Errorf("got the cases %q, want %q", names, test.cases)
			}
			got := ""
			if err != nil {
				got = filepath.ToSlash(strings.ReplaceAll(err.Error(), dir, "DIR"))
			}
			if got != test.err {
				t.Errorf("got the error\n%s\nwant\n%s", got, test.err)
			}
		})
	}
}

func place(t *testing.T, path, content string, folder bool) {
	t.Helper()
	target, link := strings.CutPrefix(content, "->")
	var err error
	switch {
	case folder:
		err = os.Mkdir(path, 0o755)
	case link:
		if err := os.Symlink(target, path); err != nil {
			t.Skipf("this system makes no links: %v", err)
		}
	default:
		err = os.WriteFile(path, []byte(content), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestLoadManyEntries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 10_001 {
		place(t, filepath.Join(dir, fmt.Sprint(i)), "", false)
	}
	_, err := casefile.Load(dir)
	if want := dir + ": has more than 10000 entries; name the folder that holds only the case files"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestLoadNoFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.json")
	place(t, file, minimal("a"), false)
	opened, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	_, noFolder := opened.ReadDir(1)
	_, missing := os.Open(file + "x")
	if noFolder == nil || missing == nil {
		t.Fatal("a file is a folder")
	}
	for dir, cause := range map[string]error{file: noFolder, file + "x": missing} {
		_, err := casefile.Load(dir)
		if want := "load cases: " + cause.Error() + "; name the folder that holds the case files"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestLoadUnreadable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.json")
	place(t, file, minimal("a"), false)
	if err := os.Chmod(file, 0); err != nil {
		t.Fatal(err)
	}
	_, cause := os.ReadFile(file)
	if cause == nil {
		t.Skip("this user reads every file")
	}
	_, err := casefile.Load(dir)
	if want := file + ": cannot be read: " + cause.Error() + "; correct its permissions, or restore it from version control"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestLoadReplaced reads a file that is another one than was listed.
func TestLoadReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.json", "b.json"} {
		place(t, filepath.Join(dir, name), minimal("a"), false)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a.json")
	want := path + ": cannot be read: it was replaced while it was read; correct its permissions, or restore it from version control"
	if err := casefile.LoadListed(path, entries[1]); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// testData returns the folder of msmodeling's own files: 22 current and 6
// removed ones, and the 22 of the replay with the original checker.
func testData(t *testing.T) string {
	t.Helper()
	data := testtier.Data(t, "real cases were NOT read", "msmodeling/cases")
	return filepath.Join(data, "msmodeling")
}

// realFiles returns the paths of all of them.
func realFiles(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, folder := range []string{"cases", "cases_removed", "golden_regression/cases"} {
		files, err := filepath.Glob(filepath.Join(testData(t), filepath.FromSlash(folder), "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, files...)
	}
	if len(all) != 50 {
		t.Fatalf("got %d files, want 22 + 6 + 22", len(all))
	}
	return all
}

func TestRecordedCases(t *testing.T) {
	t.Parallel()
	data := testData(t)
	for dir, want := range map[string]struct{ text, video, findings int }{
		"cases":                   {19, 3, 12},
		"cases_removed":           {6, 0, 3},
		"golden_regression/cases": {19, 3, 15},
	} {
		cases, err := casefile.Load(filepath.Join(data, filepath.FromSlash(dir)))
		if err != nil {
			t.Errorf("%s: %v", dir, err)
		}
		kinds := map[string]int{}
		for _, c := range cases {
			kinds[c.Type]++
		}
		findings := casefile.Lint(cases)
		if kinds[casefile.Text] != want.text || kinds[casefile.Video] != want.video || len(findings) != want.findings {
			t.Errorf("%s: got %v and %d findings, want %+v", dir, kinds, len(findings), want)
		}
		for _, f := range findings {
			t.Log(f)
		}
	}
}

// TestRecordedDevices: the original has the devices that lint does not doubt.
func TestRecordedDevices(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(testData(t), "device_profiles.json"))
	if err != nil {
		t.Fatal(err)
	}
	var profiles map[string]any
	if err := json.Unmarshal(data, &profiles); err != nil {
		t.Fatal(err)
	}
	known := 0
	for name := range profiles {
		if strings.HasPrefix(name, "_") { // what profiles share
			continue
		}
		known++
		c := casefile.New("c.json", casefile.Text)
		c.UserInput["device"] = name
		for _, f := range casefile.Lint([]*casefile.Case{c}) {
			if f.Rule == "unknown-device" {
				t.Error(f)
			}
		}
	}
	if known != 11 {
		t.Errorf("%d profiles, and lint names 11", known)
	}
}
