package casefile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// arrange returns operators in the order in which they will stand. Times that
// differ only behind what is written are equal.
func arrange(fresh, old []Operator) []Operator {
	places := make(map[string]int, len(old))
	for i, op := range slices.Backward(old) {
		places[op.Name] = i
	}
	place := func(op Operator) int {
		if i, ok := places[op.Name]; ok {
			return i
		}
		return len(old)
	}
	fresh = slices.Clone(fresh)
	slices.SortStableFunc(fresh, func(a, b Operator) int {
		return cmp.Or(cmp.Compare(round(b.TotalTimeS), round(a.TotalTimeS)), cmp.Compare(place(a), place(b)))
	})
	if !keepsOrder(fresh, old) {
		for i := range fresh {
			fresh[i].TotalTimeS = round(fresh[i].TotalTimeS)
		}
	}
	return fresh
}

// keepsOrder reports whether the times are in order although those that are
// equal to the file's are not rounded.
func keepsOrder(fresh, old []Operator) bool {
	times := make([]float64, len(fresh))
	for i, op := range fresh {
		times[i] = -round(op.TotalTimeS)
		if i < len(old) && old[i].TotalTimeS == op.TotalTimeS {
			times[i] = -op.TotalTimeS
		}
	}
	return slices.IsSorted(times)
}

// operators writes a list of operators over the one of the file.
func (e *editor) operators(old, fresh []Operator) {
	switch m := memberOf(e.root, "operators"); {
	case len(old) > 0:
		e.places(m.Value, old, fresh)
	case len(fresh) == 0:
	case m != nil: // null or an empty list
		e.edits = append(e.edits, edit{m.Value.At, m.Value.End, e.list(fresh), e.added(0, fresh)})
	default:
		e.insert(len(e.root.Members)-1, "operators", e.list(fresh), e.added(0, fresh)...)
	}
}

// added describes operators that the file gains, from a place on.
func (e *editor) added(place int, ops []Operator) []Change {
	changes := make([]Change, len(ops))
	for i, op := range ops {
		changes[i] = Change{JSONPath: operatorPath(place + i), New: compact(e.element(op))}
	}
	return changes
}

func operatorPath(i int) string { return "operators[" + strconv.Itoa(i) + "]" }

func compact(text string) string {
	var b bytes.Buffer
	_ = json.Compact(&b, []byte(text)) // valid, so it cannot fail
	return b.String()
}

// places writes operators into the places of a list that is not empty.
func (e *editor) places(v value, old, fresh []Operator) {
	kept := min(len(old), len(fresh))
	for i, m := range v.Members[:kept] {
		e.place(operatorPath(i), m.Value, old[i], fresh[i])
	}
	if kept < len(old) {
		e.remove(v, kept)
	}
	if kept < len(fresh) {
		e.extend(v, fresh[kept:])
	}
}

// place writes an operator over another one.
func (e *editor) place(path string, v value, old, fresh Operator) {
	if old.Name != fresh.Name {
		e.replace(path+".name", memberOf(v, "name").Value, encodeText(fresh.Name))
	}
	e.seconds(path+".total_time_s", memberOf(v, "total_time_s").Value, fresh.TotalTimeS)
	if m := memberOf(v, "num_calls"); m != nil && old.NumCalls != fresh.NumCalls {
		e.replace(path+".num_calls", m.Value, strconv.FormatInt(fresh.NumCalls, 10))
	}
}

// remove removes the places of a list from one on, with the comma before it.
func (e *editor) remove(v value, from int) {
	cut := edit{at: v.At + 1, end: v.End - 1}
	if from > 0 {
		cut.at, cut.end = v.Members[from-1].Value.End, v.Members[len(v.Members)-1].Value.End
	}
	for i, m := range v.Members[from:] {
		cut.changes = append(cut.changes, Change{JSONPath: operatorPath(from + i), Old: compact(e.text[m.Value.At:m.Value.End])})
	}
	e.edits = append(e.edits, cut)
}

// extend adds operators at the end of a list that is not empty.
func (e *editor) extend(v value, ops []Operator) {
	model := v.Members[len(v.Members)-1].Value
	for _, m := range slices.Backward(v.Members) {
		if memberOf(m.Value, "num_calls") != nil {
			model = m.Value
			break
		}
	}
	at := v.Members[len(v.Members)-1].Value.End
	longer := edit{at: at, end: at}
	for i, op := range ops {
		item := e.like(model, op)
		longer.text += e.comma(v) + item
		longer.changes = append(longer.changes, Change{JSONPath: operatorPath(len(v.Members) + i), New: compact(item)})
	}
	e.edits = append(e.edits, longer)
}

// like writes an operator the way another one is written.
func (e *editor) like(model value, op Operator) string {
	fresh := map[string]string{
		"name":         encodeText(op.Name),
		"total_time_s": repr(round(op.TotalTimeS)),
		"num_calls":    strconv.FormatInt(op.NumCalls, 10),
	}
	var edits []edit
	for _, m := range model.Members {
		edits = append(edits, edit{at: m.Value.At, end: m.Value.End, text: fresh[m.Key]})
	}
	return splice(e.text, model.At, model.End, edits)
}

// comma returns what stands between two operators. A list of one has lines of
// its own if it begins with a new one; otherwise its commas are those of the
// operator, if that is on one line.
func (e *editor) comma(v value) string {
	last := len(v.Members) - 1
	if last > 0 {
		return e.text[v.Members[last-1].Value.End:v.Members[last].Value.At]
	}
	only := v.Members[0].Value
	if open := e.text[v.At+1 : only.At]; strings.Contains(open, "\n") {
		return "," + open
	}
	if inner := e.text[only.Members[0].Value.End:only.Members[1].KeyAt]; !strings.Contains(inner, "\n") {
		return inner
	}
	return ", "
}
