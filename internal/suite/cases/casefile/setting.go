package casefile

import (
	"maps"
	"slices"
	"sync"
	"unicode/utf8"
)

// table is a set of settings.
type table struct {
	names    []string
	fields   []field               // in the order of names
	usual    int                   // how many of them every file of the original writes
	defaults func() map[string]any // decoded at the first call, for most commands read no case; must not be modified
}

func newTable(usual []field, rare ...field) *table {
	t := &table{fields: slices.Concat(usual, rare), usual: len(usual)}
	for _, f := range t.fields {
		t.names = append(t.names, f.name)
	}
	t.defaults = sync.OnceValue(func() map[string]any { return initialValues(t.fields) })
	return t
}

func initialValues(fields []field) map[string]any {
	values := map[string]any{}
	for _, f := range fields {
		if f.initial != "" {
			values[f.name] = decode(f.initial)
		}
	}
	return values
}

// settingsOf returns the settings that cases of a type have, or nil for none.
func settingsOf(kind string) *table {
	switch kind {
	case Text:
		return userInput
	case Video:
		return videoSettings
	}
	return nil
}

// Keys returns the names of the settings that cases of a type have, in the
// order in which the original documents them: those of user_input for [Text],
// the top-level ones for [Video], none for any other type.
func Keys(typ string) []string {
	if t := settingsOf(typ); t != nil {
		return slices.Clone(t.names)
	}
	return nil
}

// Default returns the documented default of a setting as [Case] holds it, and
// whether there is one. The value is shared: do not modify it.
func Default(typ, key string) (value any, ok bool) {
	if t := settingsOf(typ); t != nil {
		value, ok = t.defaults()[key]
	}
	return value, ok
}

// ParseSettings reads the settings of one case of a type, [Text] or [Video],
// from the text of one JSON object, as strictly as [Parse] reads a case file,
// and completes them with the documented defaults. The result is as in
// [Case.UserInput] or [Case.Video].
//
// The error is [Problems] about path, without lines and columns, because the
// text may be a translation of the file. Their JSON paths begin with
// prefix, such as "cases[0].baseline_input".
func ParseSettings(path, prefix, typ string, data []byte) (map[string]any, error) {
	r := &reader{}
	r.open(path, data)
	r.prefix = prefix
	m := r.settings(typ)
	problems := r.sorted()
	for i := range problems {
		problems[i].Line, problems[i].Column = 0, 0
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return m, nil
}

// settings reads a text that is an object of settings.
func (r *reader) settings(typ string) map[string]any {
	t := settingsOf(typ)
	switch {
	case t == nil:
		r.fail(0, "write one of text, video", "cases of type %s have no settings", quote(typ))
		return nil
	case len(r.text) > maxFileSize:
		r.fail(0, "remove what is not a setting", "is larger than %d bytes", maxFileSize)
		return nil
	case !utf8.ValidString(r.text) || !r.scan():
		r.root = value{}
		r.fail(0, "write one object of settings", "is not valid JSON")
		return nil
	}
	m := maps.Clone(t.defaults())
	if typ == Text {
		r.userInput(r.root, m)
	} else {
		given := r.object(r.root, &videoAlone, func(key string, v value) { t.setting(r, key, v, m) })
		r.require(r.root, given, "quantize_linear_action")
	}
	return m
}

// setting reads one setting into m.
func (t *table) setting(r *reader, key string, v value, m map[string]any) {
	f := t.fields[slices.Index(t.names, key)]
	if r.fits(f, v) {
		m[key] = raw(v)
	}
}
