package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// FileChanges are the numbers that a file of its own, which is no baseline, got from one host.
type FileChanges struct {
	Path string // of the file
	Noun string // what a file describes, in lower case, of all such files alike: "case"
	Name string // of the one that it describes
	Host string
	// Changes are in the order of the file.
	Changes []FileChange
}

// FileChange is one number of such a file, as it is written there. Old is empty
// for a number that the file did not have, New for one that was removed.
type FileChange struct{ JSONPath, Old, New string }

// ownFiles counts the files, which several hosts may have changed.
func (r *Refresh) ownFiles() int {
	paths := map[string]bool{}
	for i := range r.Files {
		paths[r.Files[i].Path] = true
	}
	return len(paths)
}

func (r *Refresh) ownNumbers() int {
	n := 0
	for i := range r.Files {
		n += len(r.Files[i].Changes)
	}
	return n
}

// fileBlocks shows the files in the order of their paths, each as a table.
func (r *Refresh) fileBlocks(files, rows int) []block {
	if len(r.Files) == 0 {
		return nil
	}
	order := make([]*FileChanges, len(r.Files))
	for i := range order {
		order[i] = &r.Files[i]
	}
	slices.SortStableFunc(order, func(a, b *FileChanges) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Host, b.Host)) })
	blocks := []block{
		paragraph{bold(title(r.Files[0].Noun) + " files"), plain(": " + text.Plural(r.ownFiles(), "file") + ", " + text.Plural(r.ownNumbers(), "number") +
			", as they are written there. A plus is a larger number.")},
	}
	for _, c := range order[:min(files, len(order))] {
		blocks = append(blocks, c.head(), c.table(rows))
	}
	if more := len(order) - files; more > 0 {
		blocks = append(blocks, paragraph{plain("… and " + text.Plural(more, "more file"))})
	}
	return blocks
}

// title writes a word of ours with a capital.
func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

func (c *FileChanges) head() block {
	line := inline{bold(title(c.Noun)), plain(" "), code(c.Name), plain(", "), code(c.Path)}
	if c.Host != "" {
		line = append(line, plain(", measured on "), code(c.Host))
	}
	return paragraph(append(line, plain(": "+text.Plural(len(c.Changes), "number"))))
}

func (c *FileChanges) table(rows int) block {
	t := &table{total: len(c.Changes), columns: columns("Number", "Old → new>", "Change>")}
	for _, change := range c.Changes[:min(rows, len(c.Changes))] {
		values := inline{code(change.Old), plain(" → "), code(change.New)}
		t.rows = append(t.rows, []inline{only(code(change.JSONPath)), values, only(plain(change.percent()))})
	}
	return t
}

func (c FileChange) percent() string {
	old, err := strconv.ParseFloat(c.Old, 64)
	now, errNow := strconv.ParseFloat(c.New, 64)
	switch {
	case c.Old == "":
		return "new"
	case c.New == "":
		return "removed"
	case err != nil || errNow != nil || old == 0:
		return "–"
	}
	return percent((now-old)/old*100, 0)
}

// leftBlocks returns what was not refreshed.
func (r *Refresh) leftBlocks(maximum int) []block {
	if len(r.Left) == 0 {
		return nil
	}
	t := &table{total: len(r.Left), columns: columns("Not refreshed")}
	for _, why := range r.Left[:min(maximum, len(r.Left))] {
		t.rows = append(t.rows, []inline{only(reason(why))})
	}
	return []block{t}
}
