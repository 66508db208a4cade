package casefile

import (
	"strconv"
	"strings"
)

// insert adds a key after a member of the case, separated as that one is.
func (e *editor) insert(i int, key, text string, changes ...Change) {
	at := e.root.Members[i].Value.End
	e.edits = append(e.edits, edit{at, at, e.separator(i) + encodeText(key) + e.colon() + text, changes})
}

// separator returns what stands before a member of the case, or behind the
// first one: a comma and space.
func (e *editor) separator(i int) string {
	if len(e.root.Members) == 1 {
		return "," + e.text[e.root.At+1:e.root.Members[0].KeyAt]
	}
	i = max(i, 1)
	return e.text[e.root.Members[i-1].Value.End:e.root.Members[i].KeyAt]
}

// colon returns the colon and the space around it.
func (e *editor) colon() string {
	m := memberOf(e.root, "description") // which is always there
	colon := e.text[m.KeyEnd:m.Value.At]
	if strings.ContainsAny(colon, "\r\n") {
		return ": "
	}
	return colon
}

// breaks returns what stands behind an opening bracket, and what behind a
// comma, at a depth below the case: new lines where the keys of the case stand
// on lines of their own.
func (e *editor) breaks(depth int) (open, next string) {
	separator := e.separator(len(e.root.Members) - 1)
	newline := strings.LastIndexByte(separator, '\n')
	if newline < 0 {
		_, next, _ = strings.Cut(separator, ",")
		return "", next
	}
	indent := separator[newline+1:]
	indent = indent[:len(indent)-len(strings.TrimLeft(indent, " \t"))]
	unit := indent
	if e.prefix != "" { // the keys of a case of a group are three levels deep
		unit = indent[:len(indent)/3]
	}
	open = "\n" + indent + strings.Repeat(unit, depth-1)
	if newline > 0 && separator[newline-1] == '\r' {
		open = "\r" + open
	}
	return open, open
}

// list writes operators in the style of the file.
func (e *editor) list(ops []Operator) string {
	end, _ := e.breaks(1)
	open, next := e.breaks(2)
	items := make([]string, len(ops))
	for i, op := range ops {
		items[i] = e.element(op)
	}
	return "[" + open + strings.Join(items, ","+next) + end + "]"
}

// element writes an operator in the style of the file.
func (e *editor) element(op Operator) string {
	end, _ := e.breaks(2)
	open, next := e.breaks(3)
	fields := []string{`"name"` + e.colon() + encodeText(op.Name), `"total_time_s"` + e.colon() + repr(round(op.TotalTimeS)),
		`"num_calls"` + e.colon() + strconv.FormatInt(op.NumCalls, 10)}
	return "{" + open + strings.Join(fields, ","+next) + end + "}"
}
