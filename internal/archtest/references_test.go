package archtest

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	ownReference = regexp.MustCompile(`accelgate/accelgate(?:/native|/site|/\.github/workflows/[a-z]+\.yml)?@([A-Za-z0-9._-]+)`)
	released     = regexp.MustCompile(`(?m)^## v(\d+)\.`)
)

// TestOneReference: README.md, docs, examples and init name accelgate's workflows and actions by one reference: main as long as no
// release exists, and then the tag of the newest release's major version.
func TestOneReference(t *testing.T) {
	want := "main"
	if m := released.FindStringSubmatch(content(t, "CHANGELOG.md")); m != nil {
		want = "v" + m[1]
	}
	names := append(pages(t), pagesBelow(t)...)
	examples, err := filepath.Glob(filepath.Join("..", "..", "examples", "workflows", "*.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range examples {
		names = append(names, "examples/workflows/"+filepath.Base(name))
	}
	found := 0
	for _, name := range append(names, "internal/command/setup/files.go") {
		for _, m := range ownReference.FindAllStringSubmatch(content(t, name), -1) {
			if found++; m[1] != want && m[1] != "COMMIT" {
				t.Errorf("%s: %s: write @%s, as docs/releases.md says", name, m[0], want)
			}
		}
	}
	if found < 13 {
		t.Errorf("found %d references, want 13 or more", found)
	}
	for _, name := range append(pages(t), pagesBelow(t)...) {
		if want != "main" && strings.Contains(content(t, name), "ntil the first") && name != "docs/releases.md" {
			t.Errorf("%s states what holds until the first release: edit it", name)
		}
	}
	if page := content(t, "docs/github.md"); want == "main" && !strings.Contains(page, "needs Go") {
		t.Error("docs/github.md does not state what @main needs on the host")
	}
}
