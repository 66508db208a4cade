package casefile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/text"
)

// schema is what an object may have.
type schema struct {
	keys []string
	// misplaced returns the next step for a key that belongs elsewhere, "" for
	// any other key.
	misplaced func(key string) string
	otherwise string // the next step for a key that resembles none, "" for the usual one
}

var commonKeys = []string{"type", "name", "description", "initial_time_s", "baseline_time_s", "initial_tolerance", "baseline_tolerance",
	"baseline_max_increase_pct", "operator_top_n", "operator_tolerance", "operators"}

// types lists the types of case, and keysOf the keys of their files.
var (
	types  = []string{Text, Video, Command, Grouped}
	keysOf = map[string][]string{
		Text:    slices.Concat(commonKeys, []string{"user_input", "compilation_config"}),
		Video:   slices.Concat(commonKeys, videoSettings.names),
		Command: slices.Concat(commonKeys, []string{"command", "env", "tags", "format", "timeout_s"}),
		Grouped: {"type", "name", "description", "group_tolerance", "sub_cases"},
	}
)

func caseKeys(kind string) *schema {
	return &schema{keys: keysOf[kind], misplaced: func(key string) string { return misplaced(kind, key) }}
}

var (
	userInputKeys = schema{keys: userInput.names, misplaced: func(key string) string {
		if slices.Contains(keysOf[Text], key) {
			return "move it out of user_input"
		}
		return ""
	}}
	groupedKeys = schema{
		keys: slices.DeleteFunc(slices.Clone(keysOf[Text]), func(key string) bool { return key == "type" || key == "name" }),
		misplaced: func(key string) string {
			if key == "type" || key == "name" {
				return "remove it: the case is of type text, and its key is its name"
			}
			return misplaced(Text, key)
		},
	}
	videoAlone   = schema{keys: videoSettings.names}
	operatorKeys = schema{
		keys:      []string{"name", "total_time_s", "num_calls"},
		otherwise: "remove it: an operator has name, total_time_s, num_calls",
	}
)

// misplaced returns where a key belongs that cases of a type do not have.
func misplaced(kind, key string) string {
	switch {
	case kind == Text && slices.Contains(userInput.names, key):
		return "move it into user_input"
	case kind == Command && (slices.Contains(userInput.names, key) || slices.Contains(videoSettings.names, key)):
		return "write it as an argument of command, which is all that a command case runs"
	}
	for _, other := range types {
		if slices.Contains(keysOf[other], key) {
			return fmt.Sprintf("remove it, which only %s cases have, or set type to %q", other, other)
		}
	}
	return ""
}

// maxKeys is more than any schema has.
const maxKeys = 128

// keySet describes which keys of a schema an object has.
type keySet struct {
	schema *schema
	seen   [maxKeys]bool
}

// object calls set for each known member that is given once, and returns which
// of the known keys are given. A non-object is given as a whole: one
// complaint is enough.
func (r *reader) object(v value, s *schema, set func(key string, v value)) keySet {
	given := keySet{schema: s}
	if v.Kind != '{' {
		r.fail(v.At, "write an object in braces", "want an object, got %s", describe(v))
		for i := range given.seen {
			given.seen[i] = true
		}
		return given
	}
	for i := range v.Members {
		m := &v.Members[i]
		switch i := slices.Index(s.keys, m.Key); {
		case i < 0:
			r.unknown(m, s)
		case given.seen[i]:
			r.fail(m.KeyAt, "remove one of the two", "is given twice")
		default:
			given.seen[i] = true
			set(m.Key, m.Value)
		}
	}
	return given
}

// require complains about keys that an object lacks.
func (r *reader) require(v value, given keySet, keys ...string) {
	for _, key := range keys {
		if r.full() {
			r.dropped = true
			return // to name the place costs time, too
		}
		if !given.seen[slices.Index(given.schema.keys, key)] {
			r.complain(v.At, join(r.pathTo(v.At), key), "add it", "is missing")
		}
	}
}

// unknown complains about a key, and says where it belongs.
func (r *reader) unknown(m *member, s *schema) {
	if r.full() {
		r.dropped = true
		return
	}
	hint := ""
	if s.misplaced != nil {
		hint = s.misplaced(m.Key)
	}
	if near := text.Nearest(m.Key, s.keys); hint == "" && near != "" {
		hint = fmt.Sprintf("write %s, or remove it", near)
	}
	if hint == "" {
		hint = cmp.Or(s.otherwise, "remove it")
	}
	r.fail(m.KeyAt, hint, "unknown key")
}
