package config

import (
	"fmt"
	"strings"
)

// Relation is a metric made of two others, as in "step_ms / step_ms[mode=eager]": their ratio or difference.
type Relation struct {
	Text       string
	Terms      [2]Term
	Difference bool
}

// Term is a metric of the cell that has the relation, or of the one that has these values in place of its own.
type Term struct {
	Metric string
	Cell   [][2]string // axis or swept variable, and value; nil is the cell itself
}

// Other is the index of the term of another cell; -1 where both are of one.
func (r *Relation) Other() int {
	for i, t := range r.Terms {
		if t.Cell != nil {
			return i
		}
	}
	return -1
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (r *Relation) UnmarshalText(text []byte) error {
	r.Text = string(text)
	wrong := func(why string) error {
		return fmt.Errorf("%s %s: write for example step_ms / step_ms[mode=eager], or used_mib - cached_mib", quote(r.Text), why)
	}
	left, right, ok := strings.Cut(r.Text, " / ")
	if r.Difference = !ok; r.Difference {
		left, right, ok = strings.Cut(r.Text, " - ")
	}
	if !ok || strings.Contains(right, " / ") || strings.Contains(right, " - ") {
		return wrong("is not one ratio or one difference")
	}
	for i, term := range []string{left, right} {
		t, ok := termOf(strings.TrimSpace(term))
		if !ok {
			return wrong("names no metric, or no value of an axis in brackets")
		}
		r.Terms[i] = t
	}
	if r.Terms[0].Cell != nil && r.Terms[1].Cell != nil {
		return wrong("names two other cells, and one must be the cell itself")
	}
	return nil
}

func termOf(text string) (t Term, ok bool) {
	name, cell, bracket := strings.Cut(text, "[")
	if t.Metric = name; name == "" || strings.ContainsAny(name, " ]") || !bracket {
		return t, name != "" && !bracket && !strings.ContainsAny(name, " ]")
	}
	cell, closed := strings.CutSuffix(cell, "]")
	if !closed {
		return t, false
	}
	for part := range strings.SplitSeq(cell, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || key == "" || value == "" {
			return t, false
		}
		t.Cell = append(t.Cell, [2]string{key, value})
	}
	return t, true
}
