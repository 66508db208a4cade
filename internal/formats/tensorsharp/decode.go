package tensorsharp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/accelgate/accelgate/internal/text"
)

// object fills the members from v. The path is that of the object, with its
// dot, for messages.
func (r *reader) object(v hujson.Value, path string, members []member) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		r.fail(v, "%swant an object, got %s: write { and } around its members", colon(path), kind(v))
		return
	}
	var seen []string
	for _, m := range object.Members {
		name := textOf(m.Name)
		i := slices.IndexFunc(members, func(m member) bool { return strings.EqualFold(m.name, name) })
		if i < 0 {
			r.unknown(m.Name, path, names(members))
			continue
		}
		if slices.Contains(seen, members[i].name) {
			r.warn(m.Name, "%s%s occurs twice, and only the last one counts: remove the others", path, members[i].name)
		}
		seen = append(seen, members[i].name)
		r.member(m.Value, path+members[i].name, members[i])
	}
}

func (r *reader) unknown(name hujson.Value, path string, known []string) {
	near := ""
	if s := text.Nearest(strings.ToLower(textOf(name)), known); s != "" {
		near = fmt.Sprintf("; did you mean %q?", s)
	}
	r.warn(name, "TensorSharp has no key %s%s, so it has no effect: remove it%s", path, quote(textOf(name)), near)
}

func (r *reader) member(v hujson.Value, path string, m member) {
	if m.nullable && v.Value.Kind() == 'n' {
		return
	}
	switch into := m.into.(type) {
	case *string:
		r.string(v, path, into)
	case *bool:
		r.bool(v, path, into)
	case *int:
		r.int(v, path, into, m)
	case *float64:
		r.float(v, path, into, m)
	case *[]string:
		*into = nil
		r.list(v, path, func(item hujson.Value, path string) {
			var s string
			r.string(item, path, &s)
			*into = append(*into, s)
		})
	case *[]Model:
		*into, r.ids = nil, map[string]int{}
		r.list(v, path, func(item hujson.Value, path string) {
			model := Model{Enabled: true}
			r.object(item, path+".", model.members())
			r.model(item, path, model)
			*into = append(*into, model)
		})
	}
}

func (r *reader) bool(v hujson.Value, path string, into *bool) {
	literal, _ := v.Value.(hujson.Literal)
	if k := literal.Kind(); k != 't' && k != 'f' {
		r.fail(v, "%s: want true or false, got %s: write one of the two without quotes", path, kind(v))
		return
	}
	*into = literal.Bool()
}

func (r *reader) int(v hujson.Value, path string, into *int, m member) {
	literal, _ := v.Value.(hujson.Literal)
	n, err := strconv.Atoi(string(literal))
	if err != nil {
		r.fail(v, "%s: want a whole number, got %s: write decimal digits without quotes", path, kind(v))
		return
	}
	*into = n
	r.bounds(v, path, float64(n), m)
	if m.name == "max_parallel" && n != 1 {
		r.warn(v, "max_parallel is %d, and TensorSharp runs one cell at a time whatever its value: remove it", n)
	}
}

func (r *reader) float(v hujson.Value, path string, into *float64, m member) {
	literal, _ := v.Value.(hujson.Literal)
	if literal.Kind() != '0' || json.Unmarshal(literal, into) != nil {
		r.fail(v, "%s: want a number, got %s: write decimal digits without quotes", path, kind(v))
		return
	}
	r.bounds(v, path, *into, m)
}

func (r *reader) string(v hujson.Value, path string, into *string) {
	if literal, ok := v.Value.(hujson.Literal); !ok || literal.Kind() != '"' {
		r.fail(v, "%s: want text, got %s: write it in double quotes", path, kind(v))
		return
	}
	if *into = textOf(v); strings.ContainsRune(*into, 0) {
		r.fail(v, "%s: holds a NUL character: remove it", path)
	}
}

func (r *reader) list(v hujson.Value, path string, item func(v hujson.Value, path string)) {
	array, ok := v.Value.(*hujson.Array)
	if !ok {
		r.fail(v, "%s: want a list, got %s: write [ and ] around its items", path, kind(v))
		return
	}
	for i, e := range array.Elements {
		item(e, fmt.Sprintf("%s[%d]", path, i))
	}
}

func (r *reader) bounds(v hujson.Value, path string, n float64, m member) {
	if n < m.low || n > m.high {
		r.fail(v, "%s: is %v: write a number from %v to %v", path, n, m.low, m.high)
	}
}

// model checks what makes ids ambiguous. TensorSharp compares them without
// letter case, and drops all but one of those that are equal.
func (r *reader) model(v hujson.Value, path string, m Model) {
	if !m.Enabled {
		return
	}
	if strings.TrimSpace(m.ID) == "" {
		r.fail(v, "%s: has no id: add one, or set enabled to false", path)
		return
	}
	id := strings.ToLower(m.ID)
	if line, twice := r.ids[id]; twice {
		r.fail(v, "%s: id %s is that of the model on line %d: rename one, or set enabled to false", path, quote(m.ID), line)
		return
	}
	r.ids[id] = strings.Count(string(r.data[:v.StartOffset]), "\n") + 1
}

// kind describes a value for a message.
func kind(v hujson.Value) string {
	switch v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "the text " + quote(textOf(v))
	}
	return plain(string(v.Value.(hujson.Literal)))
}

func colon(path string) string {
	if path == "" {
		return ""
	}
	return strings.TrimSuffix(path, ".") + ": "
}
