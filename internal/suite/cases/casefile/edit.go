package casefile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Refresh is what a run puts in the place of the numbers of a case file. Times
// are in seconds; nil leaves alone what the file has.
type Refresh struct {
	InitialTimeS, BaselineTimeS *float64
	Operators                   []Operator // in any order; empty removes all
}

// Change is one value of a case file that was replaced. Old and New are JSON;
// Old is as the file had it. "" means that there was or is none.
type Change struct {
	JSONPath string `json:"path"`
	Old      string `json:"old"`
	New      string `json:"new"`
}

// Edit returns the text of a case file with the numbers of a refresh, and what
// that changed, in the order of the new file. The case is the one of this name in a
// group; name is "" for a file of its own. Every byte that is not part of a
// changed number stays. A number that is equal keeps its spelling; another one
// is rounded to 12 significant digits and written as Python writes it. A time
// that the file lacks is inserted in the file's style.
//
// Operators end up sorted by total, descending, as every run prints them;
// among equals the file's order stays. The n-th one is written into the n-th
// place of the list: a name is only rewritten where another operator comes to
// stand, and a place without num_calls stays without. Places that are left
// over are removed, and further ones look like the last one with num_calls, or
// like the last one if the list has none with it. Operators that are exactly
// those of the file stay as they are, even if they are not sorted.
//
// The error is [Problems] if [Parse] refuses the file as it is.
func Edit(path, name string, data []byte, refresh Refresh) ([]byte, []Change, error) {
	if err := refresh.check(path); err != nil {
		return nil, nil, err
	}
	var r reader
	cases, problems := r.parse(path, data)
	if len(problems) > 0 {
		return nil, nil, problems
	}
	e := &editor{text: r.text, root: r.root}
	c := cases[0]
	if name != "" || c.Group != nil {
		i := slices.IndexFunc(cases, func(c *Case) bool { return c.Name == name && c.Group != nil })
		if i < 0 {
			return nil, nil, fmt.Errorf("refresh %s: its sub_cases have no %s: measure the cases of this file", plain(path), quote(name))
		}
		c, e.root, e.prefix = cases[i], memberOf(memberOf(r.root, "sub_cases").Value, name).Value, join("sub_cases", name)+"."
	}
	e.time("initial_time_s", refresh.InitialTimeS)
	e.time("baseline_time_s", refresh.BaselineTimeS)
	if refresh.Operators != nil && !slices.Equal(refresh.Operators, c.Operators) {
		e.operators(c.Operators, arrange(refresh.Operators, c.Operators))
	}
	text, changes := e.apply()
	for i := range changes {
		changes[i].JSONPath = e.prefix + changes[i].JSONPath
	}
	if len(text) > maxFileSize {
		return nil, nil, fmt.Errorf("refresh %s: it would be larger than %d bytes: record fewer operators", plain(path), maxFileSize)
	}
	if _, err := Parse(path, []byte(text)); err != nil {
		return nil, nil, err // better than an unreadable file
	}
	return []byte(text), changes, nil
}

// check refuses what no case may have.
func (f *Refresh) check(path string) error {
	bad := func(f float64) bool { return math.IsNaN(f) || math.IsInf(f, 0) || f < 0 }
	for _, time := range []*float64{f.InitialTimeS, f.BaselineTimeS} {
		if time != nil && bad(*time) {
			return fmt.Errorf("refresh %s: no run takes %g s: measure the case again", plain(path), *time)
		}
	}
	for _, op := range f.Operators {
		if strings.TrimSpace(op.Name) == "" || !utf8.ValidString(op.Name) || bad(op.TotalTimeS) || op.NumCalls < 0 {
			return fmt.Errorf("refresh %s: there is no operator %s with %d calls in %g s: measure the case again",
				plain(path), quote(op.Name), op.NumCalls, op.TotalTimeS)
		}
	}
	return nil
}

// editor gathers the edits of one file.
type editor struct {
	text   string
	root   value  // of the case
	prefix string // of the paths of changes
	edits  []edit
}

// edit replaces the bytes from at up to end.
type edit struct {
	at, end int
	text    string
	changes []Change
}

// apply returns the new text and all changes in its order. Edits do not
// overlap; insertions at one place stay in the order in which they were made.
func (e *editor) apply() (string, []Change) {
	slices.SortStableFunc(e.edits, func(a, b edit) int { return cmp.Compare(a.at, b.at) })
	var changes []Change
	for _, edit := range e.edits {
		changes = append(changes, edit.changes...)
	}
	return splice(e.text, 0, len(e.text), e.edits), changes
}

// splice returns the text between two places with the edits, which are sorted.
func splice(text string, from, to int, edits []edit) string {
	var b strings.Builder
	for _, edit := range edits {
		b.WriteString(text[from:edit.at] + edit.text)
		from = edit.end
	}
	b.WriteString(text[from:to])
	return b.String()
}

// replace replaces a value.
func (e *editor) replace(path string, v value, text string) {
	e.edits = append(e.edits, edit{v.At, v.End, text, []Change{{path, e.text[v.At:v.End], text}}})
}

// seconds replaces a number by a time, unless it is equal.
func (e *editor) seconds(path string, v value, f float64) {
	if old, _ := floatOf(v); old != f && old != round(f) {
		e.replace(path, v, repr(round(f)))
	}
}

// before lists the keys that stand before those that may have to be inserted.
var before = map[string][]string{
	"initial_time_s":  {"type", "name", "description"},
	"baseline_time_s": {"type", "name", "description", "initial_time_s"},
}

// time writes a time, which is inserted where the file lacks it.
func (e *editor) time(key string, f *float64) {
	if f == nil {
		return
	}
	if m := memberOf(e.root, key); m != nil {
		e.seconds(key, m.Value, *f)
		return
	}
	last := 0
	for i, m := range e.root.Members {
		if slices.Contains(before[key], m.Key) {
			last = i
		}
	}
	text := repr(round(*f))
	e.insert(last, key, text, Change{JSONPath: key, New: text})
}

// memberOf returns the member with a key, or nil.
func memberOf(v value, key string) *member {
	for i := range v.Members {
		if v.Members[i].Key == key {
			return &v.Members[i]
		}
	}
	return nil
}
