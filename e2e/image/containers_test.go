package image_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

var fenced = regexp.MustCompile("(?s)```(yaml|dockerfile|sh)\n(.*?)```")

// blocks returns the blocks of docs/containers.md in one language.
func blocks(t *testing.T, language string) (all []string) {
	t.Helper()
	for _, m := range fenced.FindAllStringSubmatch(repositoryFile(t, "docs/containers.md"), -1) {
		if m[1] == language {
			all = append(all, m[2])
		}
	}
	return all
}

// recipes follows docs/containers.md as far as a host without devices can: the Dockerfile builds,
// accelgate runs in that image on a mounted checkout, and the configurations are read. e2e/runs/containers has the
// siblings, e2e/workflows the native action and the image -tools.
func recipes(t *testing.T, engine engine, image string) {
	recipe := blocks(t, "dockerfile")[0]
	from := regexp.MustCompile(`--from=(\S+)`).FindStringSubmatch(recipe)[1]
	base := regexp.MustCompile(`(?m)^FROM (\S+)$`).FindStringSubmatch(recipe)[1]
	if out, err := engine.command(t.Context(), "image", "inspect", base); err != nil {
		testtier.Missing(t, "the recipes were NOT tested: there is no "+base+"; .ci/containers makes it\n"+string(out))
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(strings.ReplaceAll(recipe, from, image)), 0o644); err != nil {
		t.Fatal(err)
	}
	yours := image + "-yours"
	engine.cleanup(t, "rmi", "--force", yours)
	if out, err := engine.command(t.Context(), "build", "--quiet", "--network=host", "--tag", yours, dir); err != nil {
		t.Fatalf("build the recipe: %v\n%s", err, out)
	}
	work := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		t.Helper()
		line := append([]string{"run", "--rm", "--network=host", "--security-opt=label=disable", "-v", work + ":/work", "-w", "/work", yours}, args...)
		out, err := engine.command(t.Context(), line...)
		if err != nil {
			t.Fatalf("accelgate %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	put("accelgate.yaml", strings.ReplaceAll(repositoryFile(t, "accelgate.self.yaml"), "bin/accelgate", "accelgate")) // on the image's PATH
	if got := run("run", "--only", "*__short_text__baseline"); !strings.Contains(got, "answers are right (2 cells)") {
		t.Errorf("in the recipe's image a run prints\n%s", got)
	}
	put("accelgate.yaml", blocks(t, "yaml")[0])
	if got := run("plan", "--list"); !strings.Contains(got, "tiny__cuda__decode") {
		t.Errorf("the first configuration plans\n%s", got)
	}
}
