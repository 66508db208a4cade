package setup

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats/sources"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/endpoint"
	"github.com/accelgate/accelgate/internal/suite/exec"
	"github.com/accelgate/accelgate/internal/suite/models"
)

var kinds = map[string]suite.Kind{"exec": exec.Kind, "models": models.Kind, "endpoint": endpoint.Kind}

// written returns the files, and opens all suites, comments included, as run does.
func written(t testing.TB, f *Found) (cells map[string][]bench.Cell, files []File) {
	t.Helper()
	files, err := f.Files(Answers{})
	if err != nil {
		t.Fatal(err)
	}
	open(t, files[0].Content)
	all := regexp.MustCompile(`(?m)^  # (- name:|  )`).ReplaceAllString(files[0].Content, "  $1")
	return open(t, all), files
}

func open(t testing.TB, content string) map[string][]bench.Cell {
	t.Helper()
	file, err := config.Parse(ConfigFile, []byte(content))
	if err != nil {
		t.Fatalf("%v\n%s", err, content)
	}
	cells := map[string][]bench.Cell{}
	for i := range file.Suites {
		s := &file.Suites[i]
		opened, err := kinds[s.Kind].Open(s, suite.Env{Dir: ".", Host: bench.Host{Label: "desk"}})
		if err != nil {
			t.Fatalf("%v\n%s", err, content)
		}
		cells[s.Name] = opened.Plan().Cells
		opened.Close()
	}
	return cells
}

// FuzzWritten: whatever benchmarks, folders, models and branches are called, the files parse and mean them.
func FuzzWritten(f *testing.F) {
	for _, name := range []string{"BenchmarkA/size=10", "a\nb: c", `"q" 'x' # y`, "true", "-1", "- x", "{a}", "\u2028\u200b\x7f\x01", "it's", "~", "a: b", "x\\", "é😀", "  a ", "%d", "]", "&a", "*a", "!!str", "1e3", "0x10", "2001-01-01", "\t", "=", "<<"} {
		f.Add(name, "dir/"+name)
	}
	f.Fuzz(func(t *testing.T, name, folder string) {
		folder = path.Clean(folder)
		if !usableName(name) || !sources.Usable(folder) || path.IsAbs(folder) || strings.HasPrefix(folder, "..") || strings.Contains(folder, "\x00") {
			t.Skip()
		}
		r := &repository{files: &sources.Files{All: []sources.File{{Path: path.Join(folder, "go.mod")}, {Path: "CMakeLists.txt"}}}}
		module := r.goHarness(folder, nil)
		found := &Found{Branch: "main", Host: bench.Host{Label: "desk"}}
		found.Suites = []Suite{
			{Name: module.name, Title: module.title, Prefix: name, Body: module.body([]omitted{{name, name}, {"other", ""}})},
			{Name: "later", Title: name, Body: (r.googleHarness(path.Join("build", folder))).body(nil), Missing: name},
			r.llamaSuite(local(folder), name),
			r.servingSuite("vllm", "vLLM", "[throughput]", true),
		}
		found.rename()
		if !sources.Usable(name) {
			found.Suites = slices.Delete(found.Suites, 2, 3)
		}
		_, all := written(t, found)
		got := firstOf(t, all[0].Content)
		if got.Exclude[0] != name || got.Prefix != name {
			t.Errorf("benchmark %q became %q, as a prefix %q", name, got.Exclude[0], got.Prefix)
		}
		if folder != "." && (got.Dir != folder || got.Build.Dir != folder) {
			t.Errorf("folder %q became %q and %q", folder, got.Dir, got.Build.Dir)
		}
	})
}

// harnessSuite is a suite as its file has it.
type harnessSuite struct {
	Dir, Prefix string
	Build       struct{ Dir string }
	Exclude     []string
}

// firstOf is the first suite.
func firstOf(t testing.TB, content string) harnessSuite {
	t.Helper()
	data, err := config.ToJSON(ConfigFile, []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Suites []harnessSuite }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Suites[0]
}

// FuzzScalar: a scalar is read as the string that it was, alone and in a list.
func FuzzScalar(f *testing.F) {
	for _, s := range []string{"", "a", "null", "-x", "--", "-", "./a", "/", "No", "a#b", "a=b", "\ufeff", "\u0085", "\U000e0001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			t.Skip()
		}
		data, err := config.ToJSON("f.yaml", []byte("a: "+scalar(s)+"\nb: "+list(s, s)+"\n"+comment("", s)+"c: {d: "+scalar(s)+"}\n"))
		var got struct {
			A string
			B []string
			C struct{ D string }
		}
		if err == nil {
			err = json.Unmarshal(data, &got)
		}
		if err != nil || got.A != s || !slices.Equal(got.B, []string{s, s}) || got.C.D != s {
			t.Errorf("%q became %+v: %v", s, got, err)
		}
	})
}

func TestWorkflow(t *testing.T) {
	f := &Found{Branch: "1.0", Host: bench.Host{Label: "desk"}, Suites: []Suite{{Name: "a", Build: "make", Body: []string{"kind: exec"}}, {Name: "b", Build: "make"}, {Name: "c", Build: "x", Missing: "y"}}}
	content := f.workflow(Answers{Hosts: []string{"gpu-a", "mac"}})
	if n := strings.Count(content, "\n"); n > 20 {
		t.Errorf("the workflow has %d lines", n)
	}
	data, err := config.ToJSON(WorkflowFile, []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		On struct {
			Push struct{ Branches []string }
		}
		Jobs struct {
			Gate struct{ With map[string]string }
		}
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	with := got.Jobs.Gate.With
	called, err := os.ReadFile(filepath.Join("..", "..", "..", ".github", "workflows", "gate.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for input := range with {
		if !strings.Contains(string(called), "\n      "+input+":\n") {
			t.Errorf("gate.yml has no input %q", input)
		}
	}
	if with["hosts"] != `["gpu-a","mac"]` || with["build"] != "make" || with["config"] != ConfigFile || !slices.Equal(got.On.Push.Branches, []string{"1.0"}) {
		t.Errorf("got %+v", got)
	}
}

func TestIgnore(t *testing.T) {
	for content, want := range map[string]string{"": ".accelgate/\n", "a": "a\n.accelgate/\n", "a\r\n": "a\r\n.accelgate/\n", "/.accelgate\n": "", ".accelgate/\r\n": "", ".accelgate": ""} {
		dir := t.TempDir()
		put(t, dir, ignoreFile, content)
		if _, err := Write(dir, nil); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, ignoreFile))
		if err != nil || want != "" && string(got) != want || want == "" && string(got) != content {
			t.Errorf("%q became %q: %v", content, got, err)
		}
	}
}

func TestRemotes(t *testing.T) {
	for address, want := range map[string]string{
		"https://github.com/o/r.git": "o/r", "git@github.com:o/r.git": "o/r", "ssh://git@github.com/o/r": "o/r", "https://me:secret@github.com/o/r/": "o/r",
		"https://gitlab.com/o/r.git": "", "https://github.com.evil.org/o/r": "", "https://evil.org/github.com/o/r": "", "https://github.com/o/r/../x": "",
	} {
		if got := onGitHub(address); got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
}
