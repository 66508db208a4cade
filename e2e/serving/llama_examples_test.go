package serving_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestLlamaExamplesThorough runs the configurations in examples/llama.cpp with llama.cpp's own programs on a generated model: they accept
// the arguments that the stand-ins of e2e/gates insist on, and accelgate reads what they print. Loads are made short.
func TestLlamaExamplesThorough(t *testing.T) {
	testtier.Thorough(t)
	programs, dir := llamaPrograms(t), t.TempDir()
	for _, folder := range []string{"models", "wikitext-2-raw", "build"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	linkPrograms(t, programs, filepath.Join(dir, "build", "bin"))
	t.Setenv("PATH", os.Getenv("PATH")+string(os.PathListSeparator)+programs)
	writeModel(t, filepath.Join(dir, "models", "Qwen3-8B-Q4_K_M.gguf"))
	write(t, filepath.Join(dir, "wikitext-2-raw", "wiki.test.raw"), []byte(strings.Repeat("the mill by the road to the old town at the sea ", 150)))
	example(t, "bench.yaml", filepath.Join(dir, "accelgate.yaml"), "max: 9.2", "max: 9000", `"100"`, `"4"`, // a random model predicts nothing
		`[-fa, "on"]`, `[-fa, "on", -t, "1"]`, `[-ngl, "0"]`, `[-ngl, "0", -t, "1"]`) // several threads wait for each other on a busy host
	example(t, "accelgate.yaml", filepath.Join(dir, "server.yaml"), "/models/", "models/", "duration: 120s", "requests: 8, warmup: {duration: 0s}", "repeats: 3", "repeats: 1", `-np, "4"`, `-t, "1", -np, "4"`)

	accelgate(t, dir, "run", "--ab", "off", "--config", "server.yaml", "--out", "server")
	accelgate(t, dir, "run", "--ab", "off", "--repeats", "1", "--only", "*__cpu__*")
	accelgate(t, dir, "baseline", "update", "--reason", "first")
	accelgate(t, dir, "run", "--ab", "off", "--suite", "quality", "--only", "*__cpu__*") // the same perplexity, to the last digit
}

// patient repeats llama-perplexity, which ends with code 0 before its log has the estimate in one of five runs of a model that is so small.
const patient = `#!/bin/sh
for attempt in 1 2 3 4 5 6 7 8 9 10; do
  PROGRAM "$@" 2>log && grep -q 'Final estimate' log && break
done
cat log >&2
`

// linkPrograms makes a folder of llama.cpp's programs.
func linkPrograms(t *testing.T, programs, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"llama-bench", "llama-server"} {
		if err := os.Symlink(filepath.Join(programs, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	script := strings.Replace(patient, "PROGRAM", "'"+filepath.Join(programs, "llama-perplexity")+"'", 1)
	if err := os.WriteFile(filepath.Join(dir, "llama-perplexity"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
}

// example writes a configuration of examples/llama.cpp with texts replaced, each of which it must hold.
func example(t *testing.T, name, path string, oldnew ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "llama.cpp", name))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(oldnew); i += 2 {
		if !strings.Contains(string(text), oldnew[i]) {
			t.Fatalf("%s has no %q", name, oldnew[i])
		}
	}
	write(t, path, []byte(strings.NewReplacer(oldnew...).Replace(string(text))))
}
