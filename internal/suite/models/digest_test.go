package models_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/models"
)

const declared = `
    command: ["{accelgate}", --fast, "{model.path}"]
    env: {THREADS: "4"}
    models: [{id: a, vars: {path: a.gguf}}, {id: b, vars: {path: b.gguf}}]
    backends: [cpu]
    features: [f]
    artifacts: [lib, "{model.path}"]
    metrics: [{name: tps, regexp: 'tps=(\d+)', unit: tok/s, better: higher}]
`

// TestArtifacts: what can change the speed of a cell changes its digest, and
// nothing else does.
func TestArtifacts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a.gguf", "A")
	write("b.gguf", "B")
	write("lib/kernel.so", "1")
	h100 := bench.Host{Label: "h", Fingerprint: bench.Fingerprint{CPU: "c", Cores: 2, Driver: "570"}}
	digest := func(body string, host bench.Host, model string) string {
		t.Helper()
		file, err := config.Parse("accelgate.yaml", []byte("version: 1\nsuites:\n  - name: s\n    kind: models\n"+body))
		if err != nil {
			t.Fatal(err)
		}
		s, err := models.Open(&file.Suites[0], suite.Env{Executable: os.Args[0], Dir: dir, Host: host})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.Plan().Cells {
			if c.Get("model") == model {
				if s.Plan().Artifacts == nil {
					return ""
				}
				d, err := s.Plan().Artifacts(c)
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
		}
		t.Fatalf("no cell of %s", model)
		return ""
	}
	want := digest(declared, h100, "a")
	if want == "" || digest(declared, h100, "a") != want {
		t.Fatal("the digest is not the same twice")
	}
	driver := h100
	driver.Driver = "580"
	for name, got := range map[string]string{
		"another model":      digest(declared, h100, "b"),
		"another argument":   digest(strings.Replace(declared, "--fast", "--slow", 1), h100, "a"),
		"another variable":   digest(strings.Replace(declared, `"4"`, `"8"`, 1), h100, "a"),
		"another driver":     digest(declared, driver, "a"),
		"another expression": digest(strings.Replace(declared, `tps=(`, `fast=(`, 1), h100, "a"),
		"another unit":       digest(strings.Replace(declared, `tok/s`, `tok`, 1), h100, "a"),
		"other artifacts":    digest(strings.Replace(declared, `[lib, `, `[`, 1), h100, "a"),
	} {
		if got == want {
			t.Errorf("%s: the digest is the same", name)
		}
	}
	same := strings.Replace(declared, "    backends", "    repeats: 7\n    timeout: 9s\n    backends", 1)
	if digest(same, h100, "a") != want {
		t.Error("how often a cell is measured changes what it is")
	}
	write("b.gguf", "BB")
	if digest(declared, h100, "a") != want {
		t.Error("the other model's file counts")
	}
	write("lib/kernel.so", "2")
	if digest(declared, h100, "a") == want {
		t.Error("another library: the digest is the same")
	}
	if got := digest(strings.Replace(declared, `    artifacts: [lib, "{model.path}"]`, "", 1), h100, "a"); got != "" {
		t.Errorf("nothing declared: %s", got)
	}
}

func TestArtifactsRefuse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ from, to, want string }{
		{"[lib, ", "[none, ", `suites[0].artifacts: "none": matches no file`},
		{"[lib, \"{model.path}\"", "[lib, \"{modle.path}\"", "suites[0].artifacts: unknown placeholder {modle.path}"},
		{"    backends", "    worker: {container: {image: alpine}}\n    backends", "changes of image alpine cannot be detected: name it by its digest"},
	} {
		s, err := open(t, strings.Replace(declared, tt.from, tt.to, 1), suite.Env{})
		if err == nil {
			_, err = s.Plan().Artifacts(s.Plan().Cells[0])
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.to, err, tt.want)
		}
	}
}
