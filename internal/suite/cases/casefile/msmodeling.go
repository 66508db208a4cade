// Package casefile reads the case files of Ascend/msmodeling's performance
// regression framework (tests/benchmark/models/cases/*.json), reports what is
// doubtful about them, and writes new numbers into them without touching
// anything else. It measures and judges nothing.
//
// The original accepts nearly everything: it checks no type, range or name,
// takes every unknown type of case for text, and one bad file keeps all others
// from running. Here a file is read strictly and for itself. Facts about the
// original are those of its master branch at 84fec85, and of groups and
// profiling those at 21de24d3.
package casefile

import (
	"path/filepath"
	"slices"
	"strings"
)

// The types of case.
const (
	Text  = "text"
	Video = "video"
	// Command runs any program that prints a total and operators. Such a file
	// is ours alone: the original takes every type but video for text, and then
	// refuses the keys of a command.
	Command = "command"
	// Grouped is the type of a file with several text cases that are judged
	// together. A Case has it only where the file has none.
	Grouped = "group"
)

// Group is a file of type [Grouped].
type Group struct {
	Name, Description string
	// Tolerance is the largest mean of the distances from the baseline times, a
	// fraction: the file's, or the smallest of its cases. Own says that it is the file's.
	Tolerance float64
	Own       bool
	Cases     []*Case // in the order of the file; may be empty
}

// Case is one case file, or one case of a group. Times are in seconds, tolerances
// are fractions.
type Case struct {
	Name        string // the file's stem, or the key in the group
	Description string
	Type        string // Text, Video or Command, or Grouped for an empty group
	Group       *Group // nil for a file of its own

	// InitialTimeS is the simulator's first total, BaselineTimeS an external
	// reference; 0 means that there is none.
	InitialTimeS, BaselineTimeS         float64
	InitialTolerance, BaselineTolerance float64
	// MaxIncrease is how much longer than BaselineTimeS a run may take, a fraction; nil
	// where the file has none.
	MaxIncrease       *float64
	OperatorTopN      int
	OperatorTolerance float64
	Operators         []Operator // in the order of the file
	CompilationConfig []string   // of text cases

	// UserInput holds the settings of a text case and Video those of a video
	// case; in all other cases they are nil. A setting that the file leaves out has its
	// documented default, or is absent where none is documented. Values are
	// string, bool, [encoding/json.Number], nil or []any, and are shared
	// between cases: do not modify them.
	UserInput map[string]any
	Video     map[string]any

	// Of command cases. Command has the program and its arguments, Env what is
	// set in its environment, and Format says how its output is read: any text
	// that whoever runs it understands. TimeoutS is 0 where there is none.
	Command  []string
	Env      map[string]string
	Tags     []string
	Format   string
	TimeoutS float64

	Path string // of the file
}

// Operator is one row of the operators that a case was recorded with.
type Operator struct {
	Name       string
	TotalTimeS float64
	NumCalls   int64 // 0 where it was not recorded
}

// Parse reads the case file that has the given path, which need not exist: it
// stands in messages, and its stem must be the name of the case or of the group. Of a
// group, it returns the first case; see [Load]. The error is [Problems].
func Parse(path string, data []byte) (*Case, error) {
	cases, problems := new(reader).parse(path, data)
	if len(problems) > 0 {
		return nil, problems
	}
	return cases[0], nil
}

// parse returns what it could read of a file that has problems, or nil.
func (r *reader) parse(path string, data []byte) ([]*Case, Problems) {
	r.open(path, data)
	var cases []*Case
	if r.readable() && r.valid() {
		cases = r.read()
	}
	return cases, r.sorted()
}

// Model returns the performance model of the simulator whose numbers a case of a type is judged by: "analytic",
// or "empirical" if performance_model has profiling. It is "" for other programs.
func Model(typ string, settings map[string]any) string {
	switch model := settings["performance_model"].(type) {
	case string:
		if model == "profiling" {
			return "empirical"
		}
	case []any:
		if slices.Contains(model, any("profiling")) {
			return "empirical"
		}
	}
	if typ == Command {
		return ""
	}
	return "analytic"
}

// fileName is the name that the file of a case gives.
func (c *Case) fileName() string {
	if c.Group != nil {
		return c.Group.Name
	}
	return c.Name
}

func stem(path string) string {
	return strings.TrimSuffix(filepath.Base(path), ".json")
}
