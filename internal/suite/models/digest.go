package models

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite"
)

// Digest identifies what Measure runs for the cell: arguments, environment,
// worker, and the contents of the program and of all files that the cell needs
// or that an argument or a parameter names, also behind a "=". What a program
// loads besides, such as libraries and modules, is not seen, nor is the content
// of an image.
func (s *Suite) Digest(cell bench.Cell) (string, error) {
	f, _, err := s.fill(s.processOf(cell), s.placeholderOutput()) // the real path differs each time and does not matter
	if err != nil {
		return "", err
	}
	digests := []string{s.contents.Program(f.args[0], f.env)}
	digests = append(digests, s.contents.Named(slices.Concat(f.files, s.body.records(s.env.Dir), f.args[1:], texts(f.params)))...)
	data, err := json.Marshal([]any{f.args, digests, f.env, s.unset, s.inherited, s.body.Worker, f.params})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// programs implements Programs of [suite.Plan].
func (s *Suite) programs() (all []suite.Program) {
	if s.body.Worker.Container != nil {
		return nil
	}
	for _, cell := range s.matrix {
		f, _, err := s.fill(cell, s.placeholderOutput())
		if err == nil && !slices.ContainsFunc(all, func(p suite.Program) bool { return p.Name == f.args[0] }) {
			all = append(all, suite.Program{Name: f.args[0], Env: f.env})
		}
	}
	return all
}

// artifacts implements Artifacts of [suite.Plan].
func (s *Suite) artifacts(cell bench.Cell) (string, error) {
	f, key, err := s.fill(s.processOf(cell), s.placeholderOutput())
	if err != nil {
		return "", s.config.Errorf(key, "%v", err)
	}
	declared, err := s.contents.Declared(f.artifacts)
	if err != nil {
		return "", s.config.Errorf("artifacts", "%v", err)
	}
	command, err := s.Digest(cell)
	if err != nil {
		return "", err
	}
	data, err := json.Marshal([]any{declared, command, s.env.Host.Fingerprint, s.body.writes(), s.body.Parser, s.metrics, s.sources()})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// sources say where each metric stands in what is printed.
func (s *Suite) sources() (all [][]string) {
	for _, m := range s.body.Metrics {
		all = append(all, append([]string{m.JSON, m.Regexp}, m.Steps...))
	}
	return all
}

// texts lists the values of parameters that may name files.
func texts(params json.RawMessage) (all []string) {
	var values map[string]any
	if json.Unmarshal(params, &values) != nil {
		return nil // there are none
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if text, ok := values[name].(string); ok {
			all = append(all, text)
		}
	}
	return all
}
