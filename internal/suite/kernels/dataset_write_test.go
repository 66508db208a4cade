//go:build unix

package kernels

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
)

// writeDefinition adds a definition and its workloads to the dataset in dir.
func writeDefinition(t *testing.T, dir string, d *flashinfer.Definition, workloads ...flashinfer.Workload) {
	t.Helper()
	written, err := flashinfer.EncodeDefinition(d)
	if err != nil {
		t.Fatal(err)
	}
	writeInto(t, filepath.Join(dir, "definitions", d.OpType, d.Name+".json"), string(written))
	var lines bytes.Buffer
	for _, w := range workloads {
		line, err := flashinfer.EncodeTrace(&flashinfer.Trace{Definition: d.Name, Workload: w})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	writeInto(t, filepath.Join(dir, "workloads", d.OpType, d.Name+".jsonl"), lines.String())
}

// writeSolution adds a solution of a definition to the dataset in dir.
func writeSolution(t *testing.T, dir string, d *flashinfer.Definition, s *flashinfer.Solution) {
	t.Helper()
	sources := []map[string]string{}
	for _, f := range s.Sources {
		sources = append(sources, map[string]string{"path": f.Path, "content": f.Content})
	}
	spec := map[string]any{"language": s.Language, "target_hardware": s.TargetHardware, "entry_point": s.EntryPoint,
		"dependencies": append([]string{}, s.Dependencies...), "destination_passing_style": s.DestinationPassing}
	if s.Binding != "" {
		spec["binding"] = s.Binding
	}
	written, err := json.Marshal(map[string]any{"name": s.Name, "definition": s.Definition, "author": s.Author, "spec": spec, "sources": sources})
	if err != nil {
		t.Fatal(err)
	}
	writeInto(t, filepath.Join(dir, "solutions", s.Author, d.OpType, d.Name, s.Name+".json"), string(written))
}

func writeInto(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, content)
}
