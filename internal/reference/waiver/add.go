package waiver

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// Add returns the text of a file of waivers with one more, and every other line
// as it was. A waiver for the same cell, metric and host is replaced; one that
// is equal leaves the text as it is. No text is a file that does not exist yet.
//
// The error is [config.Errors] if the file, which the name stands for, is not
// valid as it is. A valid one that cannot be edited line by line, such as a
// list in brackets, is an error too.
func Add(name string, data []byte, e Entry, today Date) ([]byte, error) {
	entries, err := Read(name, data, today)
	if err != nil {
		return nil, err
	}
	if wrong := e.complaints(today); len(wrong) > 0 {
		return nil, fmt.Errorf("add waiver: %s: %s", wrong[0].field, wrong[0].text)
	}
	e.Source = ""
	entries = withoutSources(entries)
	want := slices.Clone(entries)
	at := slices.IndexFunc(entries, func(o Entry) bool { return o.key() == e.key() })
	switch {
	case at < 0:
		want = append(want, e)
	case entries[at] == e:
		return data, nil
	default:
		want[at] = e
	}
	t, err := newText(name, data, len(entries))
	if err == nil {
		t.put(at, e)
		data = t.bytes()
	}
	if got, readErr := Read(name, data, today); err != nil || readErr != nil || !slices.Equal(withoutSources(got), want) {
		return nil, fmt.Errorf(`add waiver: %.200q is not written with one "- cell: ..." below the other: add this by hand: %s`, name,
			e.line())
	}
	return data, nil
}

// withoutSources removes the positions, which an edit moves, in place.
func withoutSources(entries []Entry) []Entry {
	for i := range entries {
		entries[i].Source = ""
	}
	return entries
}

// text is a file as lines, each with its end.
type text struct {
	lines   []string
	items   []span // of the entries
	indent  string
	newline string
}

// span is lines[from:to].
type span struct{ from, to int }

var errLayout = errors.New("not a block list")

// newText finds the lines of the n entries of a valid file.
func newText(name string, data []byte, n int) (*text, error) {
	t := &text{newline: "\n", lines: strings.SplitAfter(string(data), "\n")}
	if strings.Contains(string(data), "\r\n") {
		t.newline = "\r\n"
	}
	if last := len(t.lines) - 1; t.lines[last] == "" {
		t.lines = t.lines[:last]
	} else {
		t.lines[last] += t.newline
	}
	if n == 0 {
		t.lines = slices.DeleteFunc(t.lines, func(line string) bool { return strings.TrimSpace(line) == "[]" })
		return t, nil
	}
	starts, err := positions(name, data, n)
	if err != nil {
		return nil, err
	}
	for _, line := range starts {
		s, err := t.item(line)
		if err != nil {
			return nil, err
		}
		t.items = append(t.items, s)
	}
	return t, nil
}

// item finds the lines of the entry whose first value is in a line: from that
// of its dash over all that are indented further.
func (t *text) item(line int) (span, error) {
	from := line
	for dashed := false; !dashed; {
		rest := strings.TrimLeft(strings.TrimPrefix(t.lines[from], "\ufeff"), " ")
		dashed = strings.HasPrefix(rest, "-") && strings.Trim(rest[1:min(2, len(rest))], " \r\n") == ""
		if skip := strings.TrimSpace(rest); !dashed && (from == 0 || from != line && skip != "" && skip[0] != '#') {
			return span{}, errLayout
		}
		if !dashed {
			from--
		}
	}
	t.indent = strings.TrimPrefix(t.lines[from], "\ufeff")
	t.indent = t.indent[:len(t.indent)-len(strings.TrimLeft(t.indent, " "))]
	to := from + 1
	for i := to; i < len(t.lines); i++ {
		body := strings.TrimSpace(t.lines[i])
		if body == "" {
			continue // belongs to the entry if more of it follows
		}
		if !strings.HasPrefix(t.lines[i], t.indent+" ") {
			break
		}
		to = i + 1
	}
	return span{from, to}, nil
}

// put replaces the entry, or appends one if at is negative.
func (t *text) put(at int, e Entry) {
	lines := e.block(t.indent, t.newline)
	if at < 0 {
		t.lines = append(t.lines, lines...)
		return
	}
	t.lines = slices.Replace(t.lines, t.items[at].from, t.items[at].to, lines...)
}

func (t *text) bytes() []byte { return []byte(strings.Join(t.lines, "")) }

// pairs are the keys of an entry with their values as YAML, without those that
// are empty.
func (e *Entry) pairs() []string {
	var pairs []string
	for _, p := range []struct{ key, value string }{
		{"cell", scalar(e.Cell)}, {"metric", scalar(e.Metric)}, {"host", scalar(e.Host)}, {"ceiling", strconv.FormatFloat(e.Ceiling, 'f', -1, 64) + "%"},
		{"expires", e.Expires.String()}, {"reason", scalar(e.Reason)}, {"issue", scalar(e.Issue)}, {"by", scalar(e.By)},
	} {
		if p.value != `""` {
			pairs = append(pairs, p.key+": "+p.value)
		}
	}
	return pairs
}

func (e *Entry) block(indent, newline string) []string {
	var lines []string
	for i, p := range e.pairs() {
		lead := "  "
		if i == 0 {
			lead = "- "
		}
		lines = append(lines, indent+lead+p+newline)
	}
	return lines
}

// line is the waiver as one line of a file, to be copied.
func (e *Entry) line() string { return "- {" + strings.Join(e.pairs(), ", ") + "}" }

// plain is text that no reader of YAML takes for anything else.
var plain = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_./-]*$`)

// words are those that some do.
var words = []string{"true", "false", "yes", "no", "on", "off", "null", "y", "n"}

func scalar(s string) string {
	if plain.MatchString(s) && !slices.Contains(words, strings.ToLower(s)) {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
