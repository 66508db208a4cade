package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/formats/sources"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// put writes a file below a folder.
func put(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

// look is Look without any program in PATH.
func look(t testing.TB, dir string, environ ...string) *Found {
	t.Helper()
	f, err := Look(t.Context(), Options{Dir: dir, Label: "desk", Environ: environ, Getenv: func(string) string { return "" }, Note: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestLinksAreNotFollowed(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	put(t, outside, "go.mod", "module m\n")
	put(t, outside, "a_test.go", "package a\nfunc BenchmarkA(b *testing.B) {}\n")
	put(t, outside, "requirements.txt", "vllm\n")
	for name, target := range map[string]string{"below": outside, "requirements.txt": filepath.Join(outside, "requirements.txt"), "loop": ".", "gone_test.go": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	if f := look(t, dir); len(f.Suites) != 0 {
		t.Errorf("found %v behind links", f.Suites)
	}
	if err := Check(dir, []File{{Path: "requirements.txt"}}, true); err == nil {
		t.Error("a link would be replaced")
	}
	if err := os.Symlink(outside, filepath.Join(dir, ".github")); err != nil {
		t.Fatal(err)
	}
	if written, err := Write(dir, []File{{Path: WorkflowFile, Content: "x"}}); err == nil {
		t.Errorf("wrote %v through a link", written)
	}
}

func TestTreeIsCut(t *testing.T) {
	dir := t.TempDir()
	for i := range 20 {
		put(t, dir, fmt.Sprintf("d%d/%d", i, i), "")
	}
	put(t, dir, "near", "")
	for maximum, cut := range map[int]bool{10: true, 20: true, 21: false} {
		f, err := sources.Walk(dir, maximum)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if len(f.All) != min(maximum, 21) || f.Cut != cut || f.All[0].Path != "near" {
			t.Errorf("at most %d: got %d files from %v on, cut %v", maximum, len(f.All), f.All[0], f.Cut)
		}
	}
}

func TestHugeTreeIsCutThorough(t *testing.T) {
	testtier.Thorough(t)
	dir := t.TempDir()
	put(t, dir, "go.mod", "module m\n")
	put(t, dir, "a_test.go", "package m\nfunc BenchmarkNear(b *testing.B) {}\n")
	for i := range sources.MaxFiles {
		path := filepath.Join(dir, fmt.Sprintf("d%d", i%10))
		if i < 10 {
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		f, err := os.Create(filepath.Join(path, fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	put(t, dir, strings.Repeat("deep/", 200)+"b_test.go", "package b\nfunc BenchmarkFar(b *testing.B) {}\n")
	f := look(t, dir)
	if len(f.Suites) != 1 || f.Suites[0].Title != "Go benchmarks in . (1 benchmark)" {
		t.Errorf("got %v", f.Suites)
	}
	if !strings.Contains(strings.Join(f.Warnings, "\n"), "more than 20000 files") {
		t.Errorf("got warnings %v", f.Warnings)
	}
}

// TestFilesThatAreNoText: sources that do not parse, are cut or are no text are no benchmarks, and stop nothing.
func TestFilesThatAreNoText(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "go.mod", "module m\n")
	put(t, dir, "a_test.go", "package m\nfunc BenchmarkA(b *testing.B) {"+strings.Repeat("(", 100_000))
	put(t, dir, "requirements.txt", strings.Repeat("\x00\xff", 10_000))
	put(t, dir, "big_test.py", strings.Repeat("x = 1\n", 100_000)+"def test_far(benchmark): pass\n")
	f := look(t, dir)
	if len(f.Suites) != 1 || f.Suites[0].Missing == "" {
		t.Errorf("got %v", f.Suites)
	}
	written(t, f)
}

func TestDetection(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  []string // titles
	}{
		"no module":         {map[string]string{"a_test.go": "package a\nfunc BenchmarkA(b *testing.B) {}"}, nil},
		"a dependency":      {map[string]string{"go.mod": "", "vendor/x/a_test.go": "package a\nfunc BenchmarkA(b *testing.B) {}"}, nil},
		"no benchmark":      {map[string]string{"go.mod": "", "a_test.go": "package a\n// func Benchmark\nfunc TestA(t *testing.T) {}"}, nil},
		"two packages":      {map[string]string{"go.mod": "", "x/a_test.go": "package x\nfunc BenchmarkA(b *testing.B) {}", "y/a_test.go": "package y\nfunc BenchmarkA(b *testing.B) {}\nfunc BenchmarkB(b *testing.B) {}"}, []string{"Go benchmarks in ./x (1 benchmark)", "Go benchmarks in ./y (2 benchmarks)"}},
		"vllm in pyproject": {map[string]string{"pyproject.toml": "dependencies = [\n  \"vllm>=0.10\",\n]"}, []string{"vLLM"}},
		"vllm-like":         {map[string]string{"requirements.txt": "vllm-router\nmy-sglang"}, nil},
		"sglang":            {map[string]string{"requirements.txt": "sglang[all]==0.5"}, []string{"SGLang"}},
		"fixture":           {map[string]string{"test_a.py": "def test_sum(data, benchmark):\n    benchmark(sum, data)\n"}, []string{"pytest-benchmark (1 benchmark)"}},
		"method named so":   {map[string]string{"test_a.py": "def test_sum(benchmark_data):\n    pass\n"}, nil},
		"library alone":     {map[string]string{"CMakeLists.txt": "target_link_libraries(b benchmark::benchmark)"}, []string{"Google Benchmark"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, content := range test.files {
				put(t, dir, file, content)
			}
			f := look(t, dir)
			var titles []string
			for _, s := range f.Suites {
				titles = append(titles, s.Title)
			}
			if strings.Join(titles, ";") != strings.Join(test.want, ";") {
				t.Errorf("got %q, want %q", titles, test.want)
			}
			written(t, f)
		})
	}
}
