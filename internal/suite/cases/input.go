package cases

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
)

// input is what one cell runs: a case, or one side of a pair.
type input struct {
	cell  bench.Cell
	name  string // of the case
	typ   string
	group *casefile.Group // nil for a case of its own
	file  string          // as the user named it; "" for a pair that is in no case file
	tags  []string
	// settings are those of the case, and its compilation_config where there is
	// one.
	settings map[string]any
	command  *command // nil where problem says why there is none
	timeout  time.Duration
	problem  string // why the cell cannot be measured; "" if it can
}

// compilation is the name of the list of compiler options, which msmodeling
// keeps beside a text case's settings.
const compilation = "compilation_config"

// Cell returns the cell of a case. Its suite is not filled in.
func Cell(name string) bench.Cell {
	return bench.Cell{Params: []bench.Param{{Key: "case", Value: name}}}
}

// CellOf returns the cell of a case, which may be one of a group. Its suite is not filled in.
func CellOf(one *casefile.Case) bench.Cell {
	cell := Cell(one.Name)
	if one.Group != nil && one.Type != casefile.Grouped {
		cell.Params = append([]bench.Param{{Key: "group", Value: one.Group.Name}}, cell.Params...)
	}
	return cell
}

// NameOf returns the id of the case that a cell measures as it is, by which [CellOf] names it; false for
// other suites' cells and for inputs of pairs.
func NameOf(c bench.Cell) (id string, ok bool) {
	last := len(c.Params) - 1
	if c.Raw != "" || last < 0 || last > 1 || c.Params[last].Key != "case" || c.Params[0].Key != "group" && last > 0 {
		return "", false
	}
	return c.ID(), true
}

const noCases = "the group has no sub_cases: add its cases, or remove the file"

// newInput returns what a case runs. The file stands in messages.
func newInput(one *casefile.Case, file string) *input {
	in := &input{cell: CellOf(one), name: one.Name, typ: one.Type, file: file, settings: settingsOf(one)}
	if one.Type == casefile.Grouped {
		in.fail(noCases)
	}
	if one.Type == casefile.Command {
		in.command = &command{Type: one.Type, Command: one.Command, Env: one.Env, Read: []source{{Format: one.Format}}}
		if one.Format == "" {
			in.command.Read[0].Format = "json"
		}
		in.timeout = seconds(one.TimeoutS)
		if err := checkFormat(in.command.Read[0].Format); err != nil {
			in.fail("format: " + err.Error())
		}
	}
	in.tags = in.ownTags(one.Tags)
	if one.Group != nil {
		in.group, in.tags = one.Group, append(in.tags, one.Group.Name)
	}
	return in
}

// settingsOf returns the settings of a case in one map.
func settingsOf(one *casefile.Case) map[string]any {
	settings := one.UserInput
	if one.Type == casefile.Video {
		settings = one.Video
	}
	if len(one.CompilationConfig) == 0 {
		return settings
	}
	options := make([]any, 0, len(one.CompilationConfig))
	for _, o := range one.CompilationConfig {
		options = append(options, o)
	}
	settings = maps.Clone(settings)
	settings[compilation] = options
	return settings
}

// seconds is the duration of a bounded number of seconds.
func seconds(s float64) time.Duration {
	const maximum = 1e9 // 30 years; more does not fit
	return time.Duration(min(s, maximum) * float64(time.Second))
}

// ownTags are what a case can be selected by without the configuration.
func (in *input) ownTags(own []string) []string {
	tags := append([]string{in.typ}, own...)
	for _, key := range []string{"device", "model_id"} {
		if s, ok := in.settings[key].(string); ok && s != "" {
			tags = append(tags, s)
		}
	}
	switch {
	case in.typ == casefile.Text && in.settings["decode"] == true:
		tags = append(tags, "decode")
	case in.typ == casefile.Text:
		tags = append(tags, "prefill")
	}
	return tags
}

// fail notes what keeps the case from being measured, unless something does
// already.
func (in *input) fail(reason string) {
	if in.problem != "" {
		return
	}
	in.problem = reason
	if in.file != "" {
		in.problem = in.file + ": " + reason
	}
}

// path names a setting as it stands in the case's file.
func (in *input) path(key string) string {
	if in.typ == casefile.Text && key != compilation {
		return "user_input." + key
	}
	return key
}

// argument writes a setting's value as an argument; that of a list for messages.
func argument(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = argument(item)
		}
		return strings.Join(items, " ")
	}
	return ""
}

// same reports whether two values of a setting mean the same: 5 is 5.0, also
// where a configuration has it as text.
func same(a, b any) bool {
	x, isList := a.([]any)
	y, alsoList := b.([]any)
	if isList || alsoList {
		return isList && alsoList && slices.EqualFunc(x, y, same)
	}
	if argument(a) == argument(b) {
		return (a == nil) == (b == nil)
	}
	_, number := a.(json.Number)
	_, alsoNumber := b.(json.Number)
	if !number && !alsoNumber {
		return false
	}
	f, err := strconv.ParseFloat(argument(a), 64)
	g, err2 := strconv.ParseFloat(argument(b), 64)
	return err == nil && err2 == nil && f == g
}
