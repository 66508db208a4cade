// Package evalconfig reads the configuration of FlashInfer-Bench, with which
// kernels are measured and judged, and says which value counts for a
// definition and where it comes from.
//
// Values are laid over each other in five layers, the last of which counts:
// built in, top level of the file, op_type_config, definition_config, flags.
// The defaults that ship with accelgate, as data, belong to what is built in.
// FlashInfer-Bench's documentation has another order and its code a third;
// [File.Explain] shows all three.
//
// The package has evaluators and definitions by name only.
//
// Fields, defaults and ranges are those of FlashInfer-Bench's BenchmarkConfig
// and EvalConfig as of 2026-04; mode, outputs and evaluators are accelgate's.
package evalconfig

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/accelgate/accelgate/internal/config"
)

// File is a configuration. It does not change and may be used by several
// goroutines.
type File struct {
	body     body
	name     string
	bundled  bool
	doc      *config.Suite // nil if there is no file
	warnings []string
}

// Parse reads a configuration in YAML; the name stands in positions. Every error
// is of type [config.Errors]: all complaints about keys and types, or, if there
// are none, the first about ranges. Each ends in a next step.
func Parse(name string, data []byte) (*File, error) {
	doc, err := config.Body(name, data)
	if err != nil {
		return nil, emptyFile(err)
	}
	f := &File{name: name, doc: doc}
	if err := doc.Decode(&f.body); err != nil {
		return nil, err
	}
	if errs := f.check(); len(errs) > 0 {
		return nil, errs
	}
	f.warn()
	return f, nil
}

// emptyFile mends the advice about an empty file, which is for accelgate.yaml.
func emptyFile(err error) error {
	var e *config.Error
	if errors.As(err, &e) && e.Message == "file is empty" {
		e.Hint = "write a setting such as \"iterations: 50\", or leave the file out"
	}
	return err
}

// Default returns the configuration without a file.
func Default() *File { return &File{} }

// Warnings returns one line for each deprecated key and for each key that
// nothing of accelgate reads, with its position and what to write instead.
func (f *File) Warnings() []string { return slices.Clone(f.warnings) }

func (f *File) warn() {
	at := func(path, format string, args ...any) {
		f.warnings = append(f.warnings, f.doc.Errorf(path, format, args...).Error())
	}
	if f.body.LogDir != nil {
		at("log_dir", "deprecated and without effect, because output is kept with its result: remove the key")
	}
	const move = "deprecated: write it below op_type_config.sampling.extra"
	if f.body.SamplingValidationTrials != nil {
		at(extraTrials, move)
	}
	if f.body.SamplingTVDThreshold != nil {
		at(extraTVD, move)
	}
	f.body.eachSection(func(path string, e *eval) {
		for _, key := range slices.Sorted(maps.Keys(e.Extra)) {
			if key != extraTrials && key != extraTVD && len(f.warnings) < maxComplaints {
				at(element(path+".extra", key), "no evaluator of accelgate reads this: remove it")
			}
		}
	})
}

// Notes returns one line for each value at the top level of the file that an op
// type or a definition overrides here but not in FlashInfer-Bench's code, where
// the top level comes last.
func (f *File) Notes() []string {
	overridden := map[string]int{}
	f.body.eachSection(func(_ string, e *eval) {
		for key := range e.Settings.keys() {
			overridden[key]++
		}
	})
	var notes []string
	for _, key := range slices.Sorted(maps.Keys(f.body.Settings.keys())) {
		if n := overridden[key]; n > 0 && key != "mode" {
			notes = append(notes,
				f.doc.Errorf(key, "yields to %d sections of op_type_config and definition_config here, as upstream documents, "+
					"while upstream's code lets it win: see \"accelgate kernels config explain\" with a definition", n).Error())
		}
	}
	return notes
}

// eachSection calls do for all op types and then all definitions, in the order
// of their names.
func (b *body) eachSection(do func(path string, e *eval)) {
	for _, group := range []struct {
		path     string
		sections map[string]eval
	}{{"op_type_config", b.OpTypeConfig}, {"definition_config", b.DefinitionConfig}} {
		for _, name := range slices.Sorted(maps.Keys(group.sections)) {
			e := group.sections[name]
			do(element(group.path, name), &e)
		}
	}
}

//go:embed bundled.yaml
var bundledText []byte

// bundled returns the defaults that ship with accelgate.
var bundled = sync.OnceValue(func() *File {
	f, err := Parse("bundled", bundledText)
	if err != nil {
		panic(fmt.Sprintf("evalconfig: %v", err)) // it is part of this build and tested
	}
	f.bundled = true
	return f
})
