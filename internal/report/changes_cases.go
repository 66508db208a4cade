package report

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/accelgate/accelgate/internal/text"
)

// CaseChanges are the numbers that one case file got from one host.
type CaseChanges struct {
	Path string // of the file
	Case string
	Host string
	// Changes are in the order of the file.
	Changes []CaseChange
}

// CaseChange is one number of a case file, as it is written there. Old is empty
// for a number that the file did not have, New for one that was removed.
type CaseChange struct{ JSONPath, Old, New string }

// caseFiles counts the files, which several hosts may have changed.
func (r *Refresh) caseFiles() int {
	paths := map[string]bool{}
	for i := range r.Cases {
		paths[r.Cases[i].Path] = true
	}
	return len(paths)
}

func (r *Refresh) caseNumbers() int {
	n := 0
	for i := range r.Cases {
		n += len(r.Cases[i].Changes)
	}
	return n
}

// caseBlocks shows the files in the order of their paths, each as a table.
func (r *Refresh) caseBlocks(files, rows int) []block {
	if len(r.Cases) == 0 {
		return nil
	}
	order := make([]*CaseChanges, len(r.Cases))
	for i := range order {
		order[i] = &r.Cases[i]
	}
	slices.SortStableFunc(order, func(a, b *CaseChanges) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Host, b.Host)) })
	blocks := []block{
		paragraph{bold("Case files"), plain(": " + text.Plural(r.caseFiles(), "file") + ", " + text.Plural(r.caseNumbers(), "number") +
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

func (c *CaseChanges) head() block {
	line := inline{bold("Case"), plain(" "), code(c.Case), plain(", "), code(c.Path)}
	if c.Host != "" {
		line = append(line, plain(", measured on "), code(c.Host))
	}
	return paragraph(append(line, plain(": "+text.Plural(len(c.Changes), "number"))))
}

func (c *CaseChanges) table(rows int) block {
	t := &table{total: len(c.Changes), columns: columns("Number", "Old → new>", "Change>")}
	for _, change := range c.Changes[:min(rows, len(c.Changes))] {
		values := inline{code(change.Old), plain(" → "), code(change.New)}
		t.rows = append(t.rows, []inline{only(code(change.JSONPath)), values, only(plain(change.percent()))})
	}
	return t
}

func (c CaseChange) percent() string {
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
func (r *Refresh) leftBlocks(most int) []block {
	if len(r.Left) == 0 {
		return nil
	}
	t := &table{total: len(r.Left), columns: columns("Not refreshed")}
	for _, why := range r.Left[:min(most, len(r.Left))] {
		t.rows = append(t.rows, []inline{only(reason(why))})
	}
	return []block{t}
}
