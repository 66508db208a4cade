package kernels

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite/kernels/evalconfig"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness/gokernel"
)

// point is one definition, solution and workload.
type point struct {
	cell       bench.Cell
	definition *flashinfer.Definition
	solution   *flashinfer.Solution
	workload   *flashinfer.Workload
	settings   evalconfig.Resolved
	worker     kind   // that runs the solution
	virtual    bool   // the solution is none of the dataset's
	skip       string // why this host cannot measure it
}

// The solutions that every definition has where a worker can run them: its
// reference once more, and the blocked kernel of the Go worker. They are
// measured where a glob names them.
const (
	referenceSolution = "reference"
	goSolution        = "builtin"
)

// choose makes the points that the configuration selects. A glob that names
// nothing is an error: coverage must not shrink by a misspelling.
func (s *Suite) choose(c *config.Suite) error {
	if err := s.checkGlobs(c); err != nil {
		return err
	}
	onlyDefinitions, onlySolutions := s.config.Selection(s.body.Flags.overrides())
	s.only = onlySolutions.V
	for _, d := range s.dataset.Definitions {
		if !wants(s.body.Definitions, d.Name) || !wants(s.body.OpTypes, d.OpType) || !among(onlyDefinitions.V, d.Name) {
			continue
		}
		settings, err := s.config.Resolve(d.Name, d.OpType, s.body.Flags.overrides())
		if err != nil {
			return c.Errorf("flags", "%v", err)
		}
		if err := s.checkVirtual(c, d); err != nil {
			return err
		}
		for _, sol := range s.solutions(d) { // one after the other, because each has a worker of its own
			for _, w := range s.workloads(d) {
				s.addPoint(d, sol, w, settings)
			}
		}
	}
	if len(s.points) == 0 {
		return fmt.Errorf(
			"suite %s: the dataset has no solution and workload for what definitions, op_types, solutions and workloads name: "+
				"correct them, or measure each reference against itself with solutions: [%s]", c.Name, referenceSolution)
	}
	return nil
}

func (s *Suite) addPoint(d *flashinfer.Definition, sol *flashinfer.Solution, w *flashinfer.Workload, settings evalconfig.Resolved) {
	p := &point{cell: flashinfer.Cell(d.Name, sol.Name, w.UUID), definition: d, solution: sol, workload: w, settings: settings}
	p.cell.Suite = s.name
	p.worker, p.skip = workerOf(sol)
	p.virtual = s.dataset.Solution(sol.Name) == nil
	s.points = append(s.points, p)
	s.byID[p.cell.ID()] = p
}

// checkVirtual refuses a dataset whose own solution has a name that stands for
// another one here.
func (s *Suite) checkVirtual(c *config.Suite, d *flashinfer.Definition) error {
	for _, sol := range s.dataset.SolutionsOf(d.Name) {
		if sol.Name == referenceSolution || sol.Name == goSolution {
			return c.Errorf("dataset",
				"definition %s has a solution named %s, which stands for the reference or the Go worker's kernel: rename it", d.Name,
				sol.Name)
		}
	}
	return nil
}

// workloads returns those of a definition that are selected, the smallest first
// where their number is bounded.
func (s *Suite) workloads(d *flashinfer.Definition) (list []*flashinfer.Workload) {
	for _, t := range s.dataset.WorkloadsOf(d.Name) {
		if wants(s.body.Workloads, t.Workload.UUID) {
			list = append(list, &t.Workload)
		}
	}
	if n := s.body.MaxWorkloads; n > 0 && len(list) > n {
		slices.SortStableFunc(list, func(a, b *flashinfer.Workload) int { return cmp.Compare(elements(d, a), elements(d, b)) })
		list = list[:n]
	}
	return list
}

// among reports whether a name is in a list; nil holds every name.
func among(list []string, name string) bool { return list == nil || slices.Contains(list, name) }

// elements is how much there is to compute.
func elements(d *flashinfer.Definition, w *flashinfer.Workload) (n float64) {
	shapes, err := d.Shapes(w)
	if err != nil {
		return 0
	}
	for _, shape := range shapes {
		size := 1.0
		for _, axis := range shape {
			size *= float64(axis)
		}
		n += size
	}
	return n
}

// solutions returns those of a definition that are selected.
func (s *Suite) solutions(d *flashinfer.Definition) (list []*flashinfer.Solution) {
	for _, sol := range s.dataset.SolutionsOf(d.Name) {
		if wants(s.body.Solutions, sol.Name) && among(s.only, sol.Name) {
			list = append(list, sol)
		}
	}
	if slices.Contains(s.body.Solutions, referenceSolution) {
		list = append(list, asSolution(d))
	}
	if entry, ok := gokernel.EntryPoint(d.Name); ok && slices.Contains(s.body.Solutions, goSolution) {
		list = append(list, &flashinfer.Solution{Name: goSolution, Definition: d.Name, Author: "accelgate", Language: "go",
			EntryPoint: entry + "_blocked", DestinationPassing: true, TargetHardware: []string{"cpu"}})
	}
	return list
}

// asSolution makes a solution of a reference.
func asSolution(d *flashinfer.Definition) *flashinfer.Solution {
	return &flashinfer.Solution{
		Name:           referenceSolution,
		Definition:     d.Name,
		Author:         "accelgate",
		Language:       "python",
		EntryPoint:     "main.py::run",
		TargetHardware: []string{"cpu"},
		Sources:        []flashinfer.Source{{Path: "main.py", Content: d.Reference}},
	}
}

func (s *Suite) checkGlobs(c *config.Suite) error {
	var definitions, ops, solutions, workloads []string
	for _, d := range s.dataset.Definitions {
		definitions, ops = append(definitions, d.Name), append(ops, d.OpType)
	}
	solutions = []string{referenceSolution, goSolution}
	for _, sol := range s.dataset.Solutions {
		solutions = append(solutions, sol.Name)
	}
	for _, t := range s.dataset.Workloads {
		workloads = append(workloads, t.Workload.UUID)
	}
	for _, g := range []struct {
		key   string
		globs []string
		names []string
	}{{"definitions", s.body.Definitions, definitions}, {"op_types", s.body.OpTypes, ops}, {"solutions", s.body.Solutions, solutions},
		{"workloads", s.body.Workloads, workloads}} {
		for i, glob := range g.globs {
			if !slices.ContainsFunc(g.names, func(name string) bool { return wants([]string{glob}, name) }) {
				return c.Errorf(fmt.Sprintf("%s[%d]", g.key, i), "%q names nothing in the dataset: correct it or remove it", glob)
			}
		}
	}
	return nil
}

// workerOf returns which worker runs a solution, or why none can.
func workerOf(s *flashinfer.Solution) (kind, string) {
	switch binding := bindingOf(s); s.Language {
	case "go":
		return goWorker, ""
	case "python", "triton", "tilelang", "cutedsl", "cuda", "hip":
		return torchWorker, ""
	case "cpp":
		if binding != "" {
			return torchWorker, ""
		}
		return cWorker, ""
	case "c":
		if binding == "" {
			return cWorker, ""
		}
		return "", fmt.Sprintf("no worker builds c with the binding %s: set the language to cpp, or leave out the binding", binding)
	}
	return "", fmt.Sprintf("no worker builds %s: measure it with flashinfer-bench", s.Language)
}

// deviceLanguages are those whose code is for a GPU. Triton has an interpreter for the CPU.
var deviceLanguages = []string{"cuda", "hip", "tilelang", "cutedsl"}

// bindingOf returns how a compiled solution is called: "torch", "tvm-ffi", or ""
// as fib_dlpack.h says, in C and C++. Without one CUDA has tvm-ffi, and C++ that
// includes its headers too.
func bindingOf(s *flashinfer.Solution) string {
	includes := func(source flashinfer.Source) bool { return strings.Contains(source.Content, "<tvm/ffi/") }
	switch {
	case s.Binding != "":
		return s.Binding
	case s.Language == "cuda" || s.Language == "hip" || s.Language == "cpp" && slices.ContainsFunc(s.Sources, includes):
		return "tvm-ffi"
	}
	return ""
}

// linked are the libraries that a solution needs: upstream links those of CUDA
// where target_hardware has cuda.
func linked(s *flashinfer.Solution) []string {
	if bindingOf(s) == "tvm-ffi" && slices.Contains(s.TargetHardware, "cuda") {
		return slices.Concat(s.Dependencies, []string{"cuda", "cublas"})
	}
	return s.Dependencies
}
