package casefile

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/text"
)

// New returns a case of a type that has nothing but the documented defaults
// and the name that belongs to its path.
func New(path, typ string) *Case {
	c := &Case{
		Path:              path,
		Name:              stem(path),
		Type:              typ,
		InitialTolerance:  0.10,
		BaselineTolerance: 0.20,
		OperatorTopN:      10,
		OperatorTolerance: 0.10,
	}
	switch typ {
	case Text:
		c.UserInput = maps.Clone(userInput.defaults())
	case Video:
		c.Video = maps.Clone(videoSettings.defaults())
	}
	return c
}

// read returns the cases with all that could be read, or nil if there are none.
func (r *reader) read() []*Case {
	root := r.root
	if root.Kind != '{' {
		r.fail(root.At, "write one object in braces per file", "a case is an object, not %s", describe(root))
		return nil
	}
	typ := r.typeOf(root)
	if typ == Grouped {
		return r.group(root)
	}
	c := New(r.path, typ)
	c.Name = ""
	given := r.object(root, caseKeys(c.Type), func(key string, v value) { r.member(c, key, v) })
	r.require(root, given, "name", "description")
	switch c.Type {
	case Video:
		r.require(root, given, "quantize_linear_action")
	case Command:
		r.require(root, given, "command")
	}
	return []*Case{c}
}

// typeOf returns the type, which says what the other keys mean.
func (r *reader) typeOf(root value) string {
	for _, m := range root.Members {
		if m.Key == "type" && m.Value.Kind == '"' {
			if r.oneOf(m.Value, types); slices.Contains(types, m.Value.Text) {
				return m.Value.Text
			}
			// A slip here is no reason to complain about every other key.
			return cmp.Or(text.Nearest(m.Value.Text, types), Text)
		}
	}
	return Text
}

// member reads one key of the case.
func (r *reader) member(c *Case, key string, v value) {
	switch key {
	case "type":
		r.textOf(v) // typeOf has read it
	case "name":
		c.Name = r.name(v)
	case "description":
		c.Description, _ = r.textOf(v)
	case "initial_time_s":
		c.InitialTimeS = r.amount(v)
	case "baseline_time_s":
		c.BaselineTimeS = r.amount(v)
	case "initial_tolerance":
		c.InitialTolerance = r.amount(v)
	case "baseline_tolerance":
		c.BaselineTolerance = r.amount(v)
	case "baseline_max_increase_pct":
		c.MaxIncrease = r.optional(v)
	case "operator_tolerance":
		c.OperatorTolerance = r.amount(v)
	case "operator_top_n":
		c.OperatorTopN = int(min(r.count(v), math.MaxInt32))
	case "operators":
		c.Operators = r.operators(v)
	default:
		r.own(c, key, v)
	}
}

// own reads one key that only cases of this type have.
func (r *reader) own(c *Case, key string, v value) {
	switch {
	case c.Type == Video:
		videoSettings.setting(r, key, v, c.Video)
	case key == "user_input":
		r.userInput(v, c.UserInput)
	case key == "compilation_config":
		c.CompilationConfig = r.texts(v, "enable_matmul_allreduce", func(v value) bool { return r.oneOf(v, compileOptions) })
	default:
		r.command(c, key, v)
	}
}

// optional returns a number of 0 or more, or nil for null.
func (r *reader) optional(v value) *float64 {
	if v.Kind == 'n' {
		return nil
	}
	f := r.amount(v)
	return &f
}

// name returns the name of the file's case or group.
func (r *reader) name(v value) string {
	name, ok := r.textOf(v)
	if want := stem(r.path); ok && name != want {
		r.fail(v.At, fmt.Sprintf("write %s, or rename the file", quote(want)),
			"%s is not the file's stem %s, by which the operators are found", quote(name), quote(want))
	}
	return name
}

func (r *reader) userInput(v value, m map[string]any) {
	vision := -1 // where vision_tp_size stands
	r.object(v, &userInputKeys, func(key string, v value) {
		if userInput.setting(r, key, v, m); key == "vision_tp_size" {
			vision = v.At
		}
	})
	if vision < 0 {
		return
	}
	size, okSize := wholeOf(value{Text: fmt.Sprint(m["vision_tp_size"])})
	world, okWorld := wholeOf(value{Text: fmt.Sprint(m["world_size"])})
	if okSize && okWorld && (size < 1 || size > world || world%size != 0) {
		r.fail(vision, "write a divisor of world_size", "%d does not divide world_size %d", size, world)
	}
}

// operators reads the list of operators; null is an empty one.
func (r *reader) operators(v value) []Operator {
	if v.Kind == 'n' {
		return nil
	}
	if v.Kind != '[' {
		r.fail(v.At, "write a list of objects with name, total_time_s and num_calls", "want a list or null, got %s", describe(v))
		return nil
	}
	ops := make([]Operator, len(v.Members))
	for i, m := range v.Members {
		op := &ops[i]
		given := r.object(m.Value, &operatorKeys, func(key string, v value) {
			switch key {
			case "name":
				op.Name, _ = r.named(v, "write the operator's name, such as aten.mm.default")
			case "total_time_s":
				op.TotalTimeS = r.amount(v)
			case "num_calls":
				op.NumCalls = r.count(v)
			}
		})
		r.require(m.Value, given, "name", "total_time_s")
	}
	return ops
}
