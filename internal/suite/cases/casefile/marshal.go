package casefile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Marshal writes a new case file the way the original's are written: keys in
// their order, two spaces of indentation, non-ASCII text as it is. Settings
// that no file of the original has are left out where they have their default.
// Use [Edit] for a file that exists.
//
// Parse(c.Path, text) yields the case again if its settings are complete, as
// those of [New] and [ParseSettings] are. The error is [Problems] if Parse
// would refuse the text.
func Marshal(c *Case) ([]byte, error) {
	var o object
	o.text("type", c.Type)
	o.text("name", c.Name)
	o.text("description", c.Description)
	o.seconds("initial_time_s", c.InitialTimeS)
	o.seconds("baseline_time_s", c.BaselineTimeS)
	o.seconds("initial_tolerance", c.InitialTolerance)
	o.seconds("baseline_tolerance", c.BaselineTolerance)
	if c.MaxIncrease != nil {
		o.seconds("baseline_max_increase_pct", *c.MaxIncrease)
	}
	o.add("operator_top_n", c.OperatorTopN)
	o.seconds("operator_tolerance", c.OperatorTolerance)
	o.own(c)
	if c.Operators != nil {
		o.add("operators", marshalOperators(c.Operators))
	}
	if o.err != nil {
		return nil, fmt.Errorf("write %s: %w: use only values that JSON has", plain(c.Path), o.err)
	}
	var b bytes.Buffer
	_ = json.Indent(&b, o.json(), "", "  ") // valid, so it cannot fail
	b.WriteByte('\n')
	if _, err := Parse(c.Path, b.Bytes()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// own adds what only cases of this type have.
func (o *object) own(c *Case) {
	switch c.Type {
	case Video:
		o.settings(videoSettings, c.Video)
	case Command:
		o.add("command", c.Command)
		if c.Env != nil {
			o.add("env", c.Env)
		}
		if c.Tags != nil {
			o.add("tags", c.Tags)
		}
		if c.Format != "" {
			o.text("format", c.Format)
		}
		if c.TimeoutS != 0 {
			o.seconds("timeout_s", c.TimeoutS)
		}
	default:
		if c.CompilationConfig != nil {
			o.add("compilation_config", c.CompilationConfig)
		}
		var input object
		input.settings(userInput, c.UserInput)
		if o.add("user_input", json.RawMessage(input.json())); input.err != nil {
			o.err = input.err
		}
	}
}

// settings adds settings in the order of the original, and those that are none
// at the end, for Parse to complain about.
func (o *object) settings(t *table, m map[string]any) {
	for i, name := range t.names {
		value, ok := m[name]
		initial, documented := t.defaults()[name]
		if ok && (i < t.usual || !documented || !reflect.DeepEqual(value, initial)) {
			o.add(name, value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(t.names, name) {
			o.add(name, m[name])
		}
	}
}

func marshalOperators(ops []Operator) []json.RawMessage {
	list := make([]json.RawMessage, len(ops))
	for i, op := range ops {
		var o object
		o.text("name", op.Name)
		o.seconds("total_time_s", op.TotalTimeS)
		o.add("num_calls", op.NumCalls)
		list[i] = o.json()
	}
	return list
}

// object is a JSON object whose keys keep their order.
type object struct {
	b   bytes.Buffer
	err error // the first one
}

func (o *object) add(key string, v any) {
	text, err := encode(v)
	if o.err == nil {
		o.err = err
	}
	if o.b.Len() > 0 {
		o.b.WriteByte(',')
	}
	o.b.WriteString(encodeText(key) + ":" + text)
}

func (o *object) text(key, s string) { o.add(key, s) }

func (o *object) seconds(key string, f float64) { o.add(key, json.Number(repr(f))) }

func (o *object) json() []byte { return []byte("{" + o.b.String() + "}") }
