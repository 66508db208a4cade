package msmodeling

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/nearest"
)

// The keys that cases of both types have, those that only text cases have, and
// those of an operator.
var (
	commonKeys = []string{"type", "name", "description", "initial_time_s", "baseline_time_s", "initial_tolerance", "baseline_tolerance",
		"operator_top_n", "operator_tolerance", "operators"}
	textKeys     = slices.Concat(commonKeys, []string{"user_input", "compilation_config"})
	videoKeys    = slices.Concat(commonKeys, videoSettings.names)
	operatorKeys = []string{"name", "total_time_s", "num_calls"}
)

// newCase returns a case with the documented defaults.
func newCase(path, kind string) *Case {
	c := &Case{Path: path, Type: kind, InitialTolerance: 0.10, BaselineTolerance: 0.20, OperatorTopN: 10, OperatorTolerance: 0.10}
	if kind == Video {
		c.Video = maps.Clone(videoSettings.defaults)
	} else {
		c.UserInput = maps.Clone(userInput.defaults)
	}
	return c
}

// read returns the case with all that could be read, or nil if it is none.
func (r *reader) read() *Case {
	root := r.next()
	if root.kind != '{' {
		r.fail(root.at, "", "write one object in braces per file", "a case is an object, not %s", root.describe())
		return nil
	}
	c := newCase(r.path, r.kindOf(root))
	known := textKeys
	if c.Type == Video {
		known = videoKeys
	}
	given := r.object(root, "", known, func(key string, v value) { r.member(c, key, v) })
	r.require(root, "", given, "name", "description")
	if c.Type == Video {
		r.require(root, "", given, "quantize_linear_action")
	}
	return c
}

// kindOf returns the type, which says what the other keys mean.
func (r *reader) kindOf(root value) string {
	for _, m := range root.members {
		if m.key == "type" && m.value.kind == '"' {
			kinds := []string{Text, Video}
			if r.oneOf(m.value, "type", kinds); nearest.Word(m.value.text, kinds) == Video {
				return Video // a slip here is no reason to complain about every other key
			}
			break
		}
	}
	return Text
}

// member reads one key of the case.
func (r *reader) member(c *Case, key string, v value) {
	switch key {
	case "type":
		r.textOf(v, key) // kindOf has read it
	case "name":
		r.name(c, v)
	case "description":
		c.Description, _ = r.textOf(v, key)
	case "initial_time_s":
		c.InitialTimeS = r.amount(v, key)
	case "baseline_time_s":
		c.BaselineTimeS = r.amount(v, key)
	case "initial_tolerance":
		c.InitialTolerance = r.amount(v, key)
	case "baseline_tolerance":
		c.BaselineTolerance = r.amount(v, key)
	case "operator_tolerance":
		c.OperatorTolerance = r.amount(v, key)
	case "operator_top_n":
		c.OperatorTopN = int(min(r.count(v, key), math.MaxInt32))
	case "operators":
		c.Operators = r.operators(v)
	case "user_input":
		r.userInput(c, v)
	case "compilation_config":
		c.CompilationConfig = r.options(v, key)
	default:
		videoSettings.setting(r, key, key, v, c.Video)
	}
}

func (r *reader) name(c *Case, v value) {
	name, ok := r.textOf(v, "name")
	c.Name = name
	if want := stem(r.path); ok && name != want {
		r.fail(v.at, "name", fmt.Sprintf("write %s, or rename the file", quote(want)),
			"%s is not the file's stem %s, by which the operators are found", quote(name), quote(want))
	}
}

func (r *reader) userInput(c *Case, v value) {
	const path = "user_input"
	places := map[string]value{}
	r.object(v, path, userInput.names, func(key string, v value) {
		places[key] = v
		userInput.setting(r, key, join(path, key), v, c.UserInput)
	})
	at, given := places["vision_tp_size"]
	vision, okVision := value{text: fmt.Sprint(c.UserInput["vision_tp_size"])}.whole()
	world, okWorld := value{text: fmt.Sprint(c.UserInput["world_size"])}.whole()
	if given && okVision && okWorld && (vision < 1 || vision > world || world%vision != 0) {
		r.fail(at.at, join(path, "vision_tp_size"), "write a divisor of world_size", "%d does not divide world_size %d", vision, world)
	}
}

// operators reads the list of operators; null is an empty one.
func (r *reader) operators(v value) []Operator {
	if v.kind == 'n' {
		return nil
	}
	if v.kind != '[' {
		r.fail(v.at, "operators", "write a list of objects with name, total_time_s and num_calls", "want a list or null, got %s", v.describe())
		return nil
	}
	ops := make([]Operator, len(v.items))
	for i, item := range v.items {
		path, op := "operators["+strconv.Itoa(i)+"]", &ops[i]
		given := r.object(item, path, operatorKeys, func(key string, v value) {
			switch key {
			case "name":
				name, ok := r.textOf(v, path+".name")
				if op.Name = name; ok && strings.TrimSpace(name) == "" {
					r.fail(v.at, path+".name", "write the operator's name, such as aten.mm.default", "is empty")
				}
			case "total_time_s":
				op.TotalTimeS = r.amount(v, path+".total_time_s")
			case "num_calls":
				op.NumCalls = r.count(v, path+".num_calls")
			}
		})
		if item.kind == '{' {
			r.require(item, path, given, "name", "total_time_s")
		}
	}
	return ops
}

// options reads compilation_config.
func (r *reader) options(v value, path string) []string {
	if v.kind != '[' {
		r.fail(v.at, path, "write a list, such as [\"enable_matmul_allreduce\"]", "want a list, got %s", v.describe())
		return nil
	}
	options := make([]string, 0, len(v.items))
	for i, item := range v.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if s, ok := r.textOf(item, at); ok && r.oneOf(item, at, compileOptions) {
			options = append(options, s)
		}
	}
	return options
}

// object calls set for each known member that is given once, and returns which
// of the known keys are given.
func (r *reader) object(v value, path string, known []string, set func(key string, v value)) keySet {
	if v.kind != '{' {
		r.fail(v.at, path, "write an object in braces", "want an object, got %s", v.describe())
		return keySet{}
	}
	given := keySet{known, make([]bool, len(known))}
	for _, m := range v.members {
		switch i := slices.Index(known, m.key); {
		case i < 0:
			r.unknown(m, path, known)
		case given.seen[i]:
			r.fail(m.at, join(path, m.key), "remove one of the two", "is given twice")
		default:
			given.seen[i] = true
			set(m.key, m.value)
		}
	}
	return given
}

// keySet says which of the known keys an object has.
type keySet struct {
	known []string
	seen  []bool
}

// require complains about keys that an object lacks.
func (r *reader) require(v value, path string, given keySet, keys ...string) {
	for _, key := range keys {
		if !given.seen[slices.Index(given.known, key)] {
			r.fail(v.at, join(path, key), "add it", "is missing")
		}
	}
}

// unknown complains about a key, and says where it belongs.
func (r *reader) unknown(m member, path string, known []string) {
	if r.full() {
		r.dropped = true
		return
	}
	hint := "remove it"
	inCase := path == ""
	isVideo := inCase && slices.Contains(known, "ulysses_size")
	switch near := nearest.Word(m.key, known); {
	case isVideo && slices.Contains(textKeys, m.key):
		hint = `remove it, which only text cases have, or set type to "text"`
	case inCase && !isVideo && slices.Contains(userInput.names, m.key):
		hint = "move it into user_input"
	case inCase && !isVideo && slices.Contains(videoKeys, m.key):
		hint = `remove it, which only video cases have, or set type to "video"`
	case path == "user_input" && slices.Contains(textKeys, m.key):
		hint = "move it out of user_input"
	case near != "":
		hint = fmt.Sprintf("write %s, or remove it", near)
	case len(known) == len(operatorKeys):
		hint = "remove it: an operator has " + strings.Join(known, ", ")
	}
	r.fail(m.at, join(path, m.key), hint, "unknown key")
}

// oneOf checks a text against the members of an enumeration.
func (r *reader) oneOf(v value, path string, members []string) bool {
	if slices.Contains(members, v.text) {
		return true
	}
	hint := "write one of " + strings.Join(members, ", ")
	if near := nearest.Word(v.text, members); near != "" {
		hint = fmt.Sprintf("write %s, or another of %s", near, strings.Join(members, ", "))
	}
	r.fail(v.at, path, hint, "unknown value %s", quote(v.text))
	return false
}

// textOf returns the text of a string.
func (r *reader) textOf(v value, path string) (s string, ok bool) {
	if v.kind != '"' {
		r.fail(v.at, path, "write text in quotes", "want text, got %s", v.describe())
		return "", false
	}
	return v.text, true
}

// amount returns a time or a tolerance.
func (r *reader) amount(v value, path string) float64 {
	f, ok := v.number()
	switch {
	case v.kind != '0':
		r.fail(v.at, path, "write a number of 0 or more without quotes", "want a number, got %s", v.describe())
	case !ok:
		r.fail(v.at, path, "write a smaller number", "%s is out of range", v.describe())
	case f < 0:
		r.fail(v.at, path, "write 0 or more", "%s is negative", v.describe())
	default:
		return f
	}
	return 0
}

// count returns a whole number of 0 or more.
func (r *reader) count(v value, path string) int64 {
	n, ok := v.whole()
	switch {
	case v.kind != '0' || !ok:
		r.fail(v.at, path, "write a whole number of 0 or more", "want a whole number, got %s", v.describe())
	case n < 0:
		r.fail(v.at, path, "write 0 or more", "%d is negative", n)
	default:
		return n
	}
	return 0
}

func (v value) number() (float64, bool) {
	f, err := strconv.ParseFloat(v.text, 64)
	return f, err == nil
}

func (v value) whole() (int64, bool) {
	n, err := strconv.ParseInt(v.text, 10, 64)
	return n, err == nil
}
