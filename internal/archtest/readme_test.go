package archtest

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReadmeIsShortAndLeadsToEveryPage: README.md has at most 120 lines and a link to each page of docs.
func TestReadmeIsShortAndLeadsToEveryPage(t *testing.T) {
	readme := content(t, "README.md")
	if lines := strings.Count(readme, "\n"); lines > 120 {
		t.Errorf("README.md has %d lines, want 120 at most: move a part to a page of docs", lines)
	}
	for _, page := range pages(t)[1:] {
		if !strings.Contains(readme, "("+page) {
			t.Errorf("README.md has no link to %s", page)
		}
	}
}

// TestReadmeListsPermissions: README.md has a row for each workflow that users copy, with the permissions that it gives.
func TestReadmeListsPermissions(t *testing.T) {
	readme := content(t, "README.md")
	for _, name := range []string{"accelgate.yml", "accelgate-forks.yml", "accelgate-chat.yml"} {
		var c caller
		load(t, "examples/workflows/"+name, &c)
		for _, job := range c.Jobs {
			var list []string
			for _, scope := range slices.Sorted(maps.Keys(job.Permissions)) {
				list = append(list, fmt.Sprintf("`%s: %s`", scope, job.Permissions[scope]))
			}
			row := fmt.Sprintf("| [`%s`](examples/workflows/%[1]s) | %s |", name, strings.Join(list, ", "))
			if !strings.Contains(readme, row) {
				t.Errorf("README.md has no row %s", row)
			}
		}
	}
}

var (
	pageLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile("(?m)^#+ (.*)$")
	unslug   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinksOfPagesLead: each relative link of the pages leads to a file, and to a heading of it where it names one.
func TestLinksOfPagesLead(t *testing.T) {
	others := []string{"SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/gates/README.md"}
	for _, page := range slices.Concat(pages(t), pagesBelow(t), others) {
		for _, m := range pageLink.FindAllStringSubmatch(prose(content(t, page)), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(m[1], ":") {
				continue // another host
			}
			to := page
			if file != "" {
				to = path.Join(path.Dir(page), file)
			}
			if _, err := os.Stat(filepath.Join("..", "..", to)); err != nil {
				t.Errorf("%s: the link %s leads to no file", page, m[1])
			} else if anchor != "" && !slices.Contains(anchors(content(t, to)), anchor) {
				t.Errorf("%s: the link %s leads to no heading", page, m[1])
			}
		}
	}
}

// pages returns README.md and the pages of docs.
func pages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(found) < 10 {
		t.Fatalf("%d pages, %v", len(found), err)
	}
	all := []string{"README.md"}
	for _, name := range found {
		all = append(all, "docs/"+filepath.Base(name))
	}
	return all
}

// pagesBelow returns the pages in folders of docs.
func pagesBelow(t *testing.T) (all []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("..", "..", "docs", "*", "*.md"))
	if err != nil || len(found) == 0 {
		t.Fatalf("%d pages, %v", len(found), err)
	}
	for _, name := range found {
		all = append(all, path.Join("docs", filepath.Base(filepath.Dir(name)), filepath.Base(name)))
	}
	return all
}

// prose returns a page without its blocks of code.
func prose(page string) string {
	return regexp.MustCompile("(?sm)^```.*?^```$").ReplaceAllString(page, "")
}

// anchors returns the fragments that GitHub gives to the headings of a page.
func anchors(page string) (all []string) {
	for _, m := range heading.FindAllStringSubmatch(prose(page), -1) {
		all = append(all, strings.ReplaceAll(unslug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return all
}
