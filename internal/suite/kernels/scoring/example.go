package scoring

import (
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
)

// someTask stands for the id of a task in examples.
const someTask = "TASK_ID"

// parameter is one of a path or a query.
type parameter struct{ text, example string }

// parameters are those of all routes by their names, with examples from the dataset.
func (s *Server) parameters() map[string]parameter {
	w := s.first()
	return map[string]parameter{
		"name":    {"name of a definition", w.Definition},
		"uuid":    {"uuid of a workload", w.Workload.UUID},
		"task_id": {"the task_id of an answer", someTask},
		"timeout": {"seconds to wait for the task to end, from 0 to 3600; 0 if absent", "60"},
	}
}

// first is the first workload of the dataset.
func (s *Server) first() *flashinfer.Trace {
	if len(s.Dataset.Workloads) > 0 {
		return s.Dataset.Workloads[0]
	}
	return &flashinfer.Trace{Definition: "NAME", Workload: flashinfer.Workload{UUID: "UUID"}}
}

// example is a request that the server accepts: the reference of a definition as a
// solution for one workload.
func (s *Server) example() evaluation {
	w, reference := s.first(), "def run(x):\n    return x\n"
	if d := s.Dataset.Definition(w.Definition); d != nil {
		reference = d.Reference
	}
	text, err := flashinfer.EncodeSolution(
		&flashinfer.Solution{Name: "mine", Definition: w.Definition, Author: "me", Language: "python", TargetHardware: []string{"cpu"},
			EntryPoint: "main.py::run", Sources: []flashinfer.Source{{Path: "main.py", Content: reference}}},
	)
	if err != nil { // the reference is empty, perhaps
		text = []byte("{}")
	}
	return evaluation{Solution: solutionJSON{text}, Workloads: []string{w.Workload.UUID}}
}
