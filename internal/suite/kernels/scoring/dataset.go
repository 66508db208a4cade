package scoring

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/text"
)

// The documents of flashinfer-bench. Their schemas are those of components.
type (
	definitionJSON struct{ json.RawMessage }
	workloadJSON   struct{ json.RawMessage }
	solutionJSON   struct{ json.RawMessage }
	traceJSON      struct{ json.RawMessage }
)

// definitionInfo is a definition in a list.
type definitionInfo struct {
	Name        string  `json:"name"`
	Description *string `json:"description"`
}

func (s *Server) definitions(*http.Request) ([]definitionInfo, error) {
	list := []definitionInfo{}
	for _, d := range s.Dataset.Definitions {
		one := definitionInfo{Name: d.Name}
		if d.Description != "" {
			one.Description = &d.Description
		}
		list = append(list, one)
	}
	return list, nil
}

func notFound(what, name string) error {
	return problem{http.StatusNotFound, fmt.Sprintf("%s not found: %s", what, text.Quote(name, 80))}
}

func (s *Server) definition(r *http.Request) (definitionJSON, error) {
	d := s.Dataset.Definition(r.PathValue("name"))
	if d == nil {
		return definitionJSON{}, notFound("Definition", r.PathValue("name"))
	}
	data, err := flashinfer.EncodeDefinition(d)
	return definitionJSON{data}, err
}

func (s *Server) workloads(r *http.Request) ([]workloadJSON, error) {
	name := r.PathValue("name")
	if s.Dataset.Definition(name) == nil {
		return nil, notFound("Definition", name)
	}
	list := []workloadJSON{}
	for _, w := range s.Dataset.WorkloadsOf(name) {
		data, err := flashinfer.EncodeWorkload(&w.Workload)
		if err != nil {
			return nil, err
		}
		list = append(list, workloadJSON{data})
	}
	return list, nil
}

func (s *Server) workload(r *http.Request) (workloadJSON, error) {
	uuid := r.PathValue("uuid")
	for _, w := range s.Dataset.Workloads {
		if w.Workload.UUID == uuid {
			data, err := flashinfer.EncodeWorkload(&w.Workload)
			return workloadJSON{data}, err
		}
	}
	return workloadJSON{}, notFound("Workload", uuid)
}
