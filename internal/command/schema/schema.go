// Package schema describes the documents that accelgate writes as JSON Schemas of their Go types: keys, types,
// words, and which keys are always there. [bench.DecodeRun] and [baseline.Parse] check more; accelgate reads no report.
package schema

import (
	"reflect"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/reference/waiver"
	"github.com/accelgate/accelgate/internal/report"
)

// folder is where the schemas are published.
const folder = "https://raw.githubusercontent.com/accelgate/accelgate/main/schema/"

// Run returns the schema (draft 7, which editors read) of run.json. It refuses unknown keys, as the reader does.
func Run() (*jsonschema.Schema, error) {
	return document[bench.Run]("run.json", bench.RunSchema, written())
}

// Baseline returns the schema (draft 7) of baseline-<host>.json. It permits unknown keys, which accelgate keeps.
func Baseline() (*jsonschema.Schema, error) {
	types := written()
	metric, err := ofMetric[baseline.Metric](types)
	if err != nil {
		return nil, err
	}
	metric.Required = without(metric.Required, "better") // which the description of all entries has
	description, err := ofMetric[bench.Metric](types)
	if err != nil {
		return nil, err
	}
	types[reflect.TypeFor[baseline.Medians]()] = &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{Type: "number"}}
	types[reflect.TypeFor[[]baseline.Metric]()] = &jsonschema.Schema{Type: "object", AdditionalProperties: metric}
	s, err := document[baseline.File]("baseline.json", baseline.Schema, types)
	if err == nil {
		s.Properties["descriptions"] = &jsonschema.Schema{Type: "object", AdditionalProperties: description}
		s.PropertyOrder = slices.Insert(s.PropertyOrder, slices.Index(s.PropertyOrder, "entries"), "descriptions")
		open(s)
	}
	return s, err
}

// ofMetric is the schema of a metric whose name is its key.
func ofMetric[T any](types map[reflect.Type]*jsonschema.Schema) (*jsonschema.Schema, error) {
	metric, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"name", "optional", "definition"} {
		delete(metric.Properties, key)
		metric.PropertyOrder = without(metric.PropertyOrder, key)
		metric.Required = without(metric.Required, key)
	}
	return metric, nil
}

// Report returns the schema (draft 7) of the JSON report. It permits unknown keys: a new one does not change the
// meaning of the others.
func Report() (*jsonschema.Schema, error) {
	types := written()
	types[reflect.TypeFor[gate.Finding]()] = words(gate.Findings...)
	types[reflect.TypeFor[gate.Decider]()] = words(gate.Deciders...)
	types[reflect.TypeFor[gate.ExcuseKind]()] = words(gate.ExcuseKinds...)
	types[reflect.TypeFor[gate.Method]()] = words(gate.Methods...)
	types[reflect.TypeFor[gate.Status]()] = words(gate.Statuses...)
	types[reflect.TypeFor[waiver.Date]()] = &jsonschema.Schema{Type: "string", Format: "date"}
	s, err := document[report.Document]("report.json", report.DocumentSchema, types)
	if err == nil {
		open(s)
		drop(s, "delta") // hides that of package gate, and is never written
	}
	return s, err
}

// written are the schemas of types that are written as words.
func written() map[reflect.Type]*jsonschema.Schema {
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Time]():          {Type: "string", Format: "date-time"},
		reflect.TypeFor[bench.Direction]():    words(bench.Higher, bench.Lower),
		reflect.TypeFor[bench.Outcome]():      words(bench.Outcomes...),
		reflect.TypeFor[bench.CheckKind]():    words(bench.CheckKinds...),
		reflect.TypeFor[bench.HealthStatus](): words(bench.HealthStatuses...),
		reflect.TypeFor[bench.Quantity]():     words(bench.Quantities[1:]...),
	}
}

func words[T ~string](values ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
	return s
}

func document[T any](name string, version any, types map[reflect.Type]*jsonschema.Schema) (*jsonschema.Schema, error) {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		return nil, err
	}
	s.Schema, s.ID, s.Title = "http://json-schema.org/draft-07/schema#", folder+name, name
	s.Properties["schema"] = &jsonschema.Schema{Const: &version}
	return s, nil
}

// open permits unknown keys in each object that lists its keys.
func open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Properties != nil {
		s.AdditionalProperties = nil
	}
	open(s.Items)
	open(s.AdditionalProperties)
	for _, p := range s.Properties {
		open(p)
	}
}

// drop removes a key from each object.
func drop(s *jsonschema.Schema, key string) {
	if s == nil {
		return
	}
	delete(s.Properties, key)
	s.PropertyOrder = without(s.PropertyOrder, key)
	drop(s.Items, key)
	drop(s.AdditionalProperties, key)
	for _, p := range s.Properties {
		drop(p, key)
	}
}

func without(keys []string, key string) []string {
	return slices.DeleteFunc(keys, func(k string) bool { return k == key })
}
