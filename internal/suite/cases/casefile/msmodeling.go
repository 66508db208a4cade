// Package casefile reads the case files of Ascend/msmodeling's performance
// regression framework (tests/benchmark/models/cases/*.json), reports what is
// doubtful about them, and writes new numbers into them without touching
// anything else. It measures and judges nothing.
//
// The original accepts nearly everything: it checks no type, range or name,
// takes every unknown type of case for text, and one bad file keeps all others
// from running. Here a file is read strictly and for itself. Facts about the
// original are those of its master branch at 84fec85.
package casefile

import (
	"path/filepath"
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
)

// Case is one case file. Times are in seconds, tolerances are fractions.
type Case struct {
	Name        string // the file's stem
	Description string
	Type        string // Text, Video or Command

	// InitialTimeS is the simulator's first total, BaselineTimeS an external
	// reference; 0 means that there is none.
	InitialTimeS, BaselineTimeS         float64
	InitialTolerance, BaselineTolerance float64
	OperatorTopN                        int
	OperatorTolerance                   float64
	Operators                           []Operator // in the order of the file
	CompilationConfig                   []string   // of text cases

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
// stands in messages, and its stem must be the name of the case. The error is
// [Problems].
func Parse(path string, data []byte) (*Case, error) {
	c, problems := new(reader).parse(path, data)
	if len(problems) > 0 {
		return nil, problems
	}
	return c, nil
}

// parse returns what it could read of a file that has problems, or nil.
func (r *reader) parse(path string, data []byte) (*Case, Problems) {
	r.open(path, data)
	var c *Case
	if r.readable() && r.valid() {
		c = r.read()
	}
	return c, r.sorted()
}

func stem(path string) string {
	return strings.TrimSuffix(filepath.Base(path), ".json")
}
