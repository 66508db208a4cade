package setup

import (
	"context"
	"path"
	"strings"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// fixture finds tests that take pytest-benchmark's fixture.
var fixture = lazyregexp.New(`(?m)^(?:async )?def (test_\w+)\((?:[^)]*[ ,])?benchmark\s*[,):]`)

// pytest finds benchmarks of pytest-benchmark: one suite for the repository.
func (r *repository) pytest(ctx context.Context) ([]Suite, error) {
	declared := false
	for _, name := range r.files.Named(declaresPython) {
		declared = declared || strings.Contains(r.files.Content(name), "pytest-benchmark") ||
			strings.Contains(r.files.Content(name), "pytest_benchmark")
	}
	var guess []string
	for _, name := range r.files.Named(isPythonTest) {
		source := r.files.Content(name)
		for _, m := range fixture.FindAllStringSubmatch(source, -1) {
			if !strings.Contains(source, "parametrize") {
				guess = append(guess, name+"::"+m[1])
			}
			declared = true
		}
	}
	if !declared {
		return nil, nil
	}
	h := &harness{
		name: "pytest", title: "pytest-benchmark", format: "pytest-benchmark", file: "result.json", guess: guess,
		command: []string{"pytest", "{benchmark}", "--benchmark-only", "--benchmark-json={output}/result.json"},
		list: []string{"pytest", "-v", "--benchmark-only", "--benchmark-min-rounds=1", "--benchmark-max-time=0.001",
			"--benchmark-json={output}/result.json"},
	}
	if !r.has("pytest") {
		h.list = append([]string{"python3", "-m", "pytest"}, h.list[1:]...)
		h.command = append([]string{"python3", "-m", "pytest"}, h.command[1:]...)
	}
	s, listed, err := r.listed(ctx, h)
	if !listed {
		s.Missing = "install pytest and pytest-benchmark, or " + s.Missing
	}
	return []Suite{s}, err
}

// declaresPython reports a file that lists dependencies of Python.
func declaresPython(base string) bool {
	return base == "pyproject.toml" || base == "setup.cfg" || base == "tox.ini" || base == "pytest.ini" || base == "conftest.py" ||
		strings.HasPrefix(base, "requirements") && path.Ext(base) == ".txt"
}

func isPythonTest(base string) bool {
	return path.Ext(base) == ".py" && (strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py"))
}
