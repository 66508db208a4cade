package workflows_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/githubtest"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestPagesThorough: the pages follow the runs of the default branch. A fork's branch of the same name starts nothing.
func TestPagesThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	w := newSourceWorld(t)
	w.write(t, filepath.Join(".github", "workflows", "accelgate-pages.yml"), read(t, filepath.Join(root(t), "examples", "workflows", "accelgate-pages.yml")))
	base := w.commit(t, "pages")
	w.git(t, "checkout", "-q", "-b", "accelgate-history")
	w.write(t, "history-desk.jsonl", `{"schema":1,"revision":"rev1","started":"2026-01-01T00:00:00Z","metrics":[{"name":"tps","better":"higher"}],"cells":{"a":[[0,1]]}}`+"\n")
	w.commit(t, "history")
	w.git(t, "checkout", "-q", "main")
	github := w.serve(t, githubtest.Repo{Files: map[string]string{"README.md": "hello\n"}, Commits: []string{base}}, w.permissions(t, "pages.yml", "build"))
	completed := func(repo string, run int64) *outcome {
		return w.act(t, started{workflow: "accelgate-pages.yml", event: "workflow_run", run: run, fake: github, payload: object{"action": "completed", "repository": repository,
			"workflow_run": object{"id": 1, "event": "push", "conclusion": "success", "head_sha": base, "head_branch": "main", "head_repository": object{"full_name": repo}}}})
	}
	completed(repoName, 111).want(map[string]string{"build": "success", "deploy": "success"})
	if page := read(t, filepath.Join(w.artifacts, "111", "github-pages", "index.html")); !strings.Contains(page, "desk") {
		t.Errorf("the pages lack the host: %d bytes", len(page))
	}
	completed(stranger, 112).want(map[string]string{})
}
