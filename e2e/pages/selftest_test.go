package pages_test

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/accelgate/accelgate/e2e/script"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// elsewhere are the configurations that a page plans for another host and does not measure here, each with the lines of sed that
// take from it what no program stands in for.
var elsewhere = []struct{ page, file, edit string }{
	{"devices.md", "devices.yaml", ""},
	{"devices.md", "mig.yaml", ""},
	{"presets.md", "llama.yaml", `s,/models/Qwen3-8B-Q4_K_M.gguf,bench.py,; s/, args: .*\]}/}/`},
	{"recipes.md", "gpu.yaml", "s,/models/Qwen3-8B-Q4_K_M.gguf,bench.py,"},
}

// TestSelftestElsewhereThorough proves the gates of these configurations, with scripts in place of their programs and of the host's devices.
func TestSelftestElsewhereThorough(t *testing.T) {
	testtier.Thorough(t)
	if runtime.GOOS != "linux" {
		t.Skip("the stand-ins are shell scripts")
	}
	for _, of := range elsewhere {
		t.Run(of.file, func(t *testing.T) {
			t.Parallel()
			dir := otherHost(t)
			named(t, filepath.Join("docs", of.page), of.file, dir)
			printed := script.Shell(t, "export PATH=$PWD/bin:$PATH ACCELGATE_LEASES=$PWD/leases; sed -i.old -e '"+of.edit+"' "+of.file+
				" && accelgate selftest --config "+of.file+" 2>&1", dir, noHealth)
			if !strings.HasSuffix(printed, "\nPASS: this gate fails when it should\n") {
				t.Error(printed)
			}
		})
	}
}

// isElsewhere reports whether a page's configuration is proved by TestSelftestElsewhereThorough.
func isElsewhere(page, file string) bool {
	for _, of := range elsewhere {
		if of.page == filepath.Base(page) && of.file == file {
			return true
		}
	}
	return false
}

// otherHost is a folder with the programs of testdata/hosts.txtar.
func otherHost(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "hosts.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range archive.Files {
		put(t, filepath.Join(dir, f.Name), string(f.Data), 0o755)
	}
	return dir
}

// named writes the block of a page that has a file's name to that file.
func named(t *testing.T, page, file, dir string) {
	t.Helper()
	put(t, filepath.Join(dir, file), block(t, page, file), 0o644)
}

var fenced = regexp.MustCompile("(?sm)^```[a-z]+ ([a-zA-Z0-9._/-]+)\n(.*?)^```$")

// block returns the block of a page that has a file's name.
func block(t *testing.T, page, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", page))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range fenced.FindAllStringSubmatch(string(text), -1) {
		if block[1] == file {
			return block[2]
		}
	}
	t.Fatalf("%s has no block %s", page, file)
	return ""
}

func put(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}
