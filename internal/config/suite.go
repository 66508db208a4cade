package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Suite is one entry of the list of suites: its name, its kind, and a body
// that only the kind understands. It comes from [Parse] or [Load].
type Suite struct {
	Name string `yaml:"name,required"`
	Kind string `yaml:"kind,required"`
	// Build builds a checkout for this suite; nil if nothing is built.
	Build *Build `yaml:"build"`
	Around
	Watchdog
	// Limits are those of single metrics, in place of the policy's.
	Limits []Limit `yaml:"limits"`
	// Devices are the counts of devices that cells need; later entries win, and 1 is the
	// count of a cell that none selects.
	Devices List[DeviceCount] `yaml:"devices"`
	// CPUs are the processors of the suite's children, such as "0-7,16": one list for all, or
	// one for each device of the run; empty leaves them to the system.
	CPUs List[string] `yaml:"cpus"`
	// NUMA are the NUMA nodes of the children, such as "0", "0,1" or "auto", as CPUs are.
	NUMA List[string] `yaml:"numa"`
	// Levels say of which cells, and on which occasions, numbers only warn.
	Levels []SuiteLevel `yaml:"levels"`
	// Fits are lines of metrics over axes.
	Fits []Fit `yaml:"fits"`
	// Relations are metrics made of others, by name.
	Relations map[string]Relation `yaml:"relations"`
	// Line is where the suite starts in its file.
	Line int

	doc  *document
	node ast.Node
	path string // "suites[0]"
}

// Decode fills the struct that into points to with the keys of the suite other
// than those of this struct, by the tags `yaml:"key"`, `yaml:"key,required"`, and
// `yaml:"key,scalar"` and `yaml:"key,list"` for the field that a plain value or a list in
// place of the mapping stands for. Keys without a field are errors. Fields may be strings, booleans, integers,
// floats, [time.Duration], implementations of [encoding.TextUnmarshaler], [List], and
// pointers, slices, string-keyed maps and structs of these; fields of embedded
// structs are the struct's own. An absent key leaves its field as it was, so
// defaults are set before the call; maps keep the entries they have. Where into
// points to a slice, the file of [Body] is a list. The error is of type [Errors] and lists
// everything that is wrong.
func (s *Suite) Decode(into any) error {
	d := s.doc.decoder()
	if v := reflect.ValueOf(into).Elem(); v.Kind() == reflect.Slice {
		d.value(s.node, s.path, v)
		return d.err()
	}
	fields, _ := fieldsOf(reflect.TypeFor[Suite]())
	d.structure(s.node, s.path, into, slices.Collect(maps.Keys(fields))...)
	return d.err()
}

// Errorf returns a complaint about the value at path, such as
// "features[2].expect". The formatted text should end in a next step.
func (s *Suite) Errorf(path, format string, args ...any) *Error {
	at := strings.Trim(s.path+"."+path, ".")
	return &Error{Position: s.Position(path), Message: at + ": " + fmt.Sprintf(format, args...)}
}

// Body reads a file that holds nothing but the keys of one suite's kind, such
// as a preset. Its positions carry the name. Every error is of type [Errors].
func Body(name string, data []byte) (*Suite, error) {
	doc, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	return &Suite{Line: start(doc.root).Line, doc: doc, node: doc.root}, nil
}
