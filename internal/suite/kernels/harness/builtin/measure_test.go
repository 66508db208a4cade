package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness/gokernel"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness/workers"
	"github.com/accelgate/accelgate/internal/testing/testtier"
	"github.com/accelgate/accelgate/internal/worker"
)

// The test binary is its own Go worker.
const child = "BUILTIN_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) != "" {
		_ = gokernel.Serve(context.Background(), os.Stdin, os.Stdout, time.Now)
		return
	}
	code := m.Run()
	if ds, err := written(); err == nil {
		_ = os.RemoveAll(filepath.Dir(filepath.Dir(ds.Root)))
	}
	os.Exit(code)
}

// TestSolutionsAreRight measures every solution with a workload, against the
// plain Go kernel as the reference.
func TestSolutionsAreRight(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	t.Parallel()
	solutionsAreRight(t, 1)
}

func TestSolutionsAreRightThorough(t *testing.T) {
	testtier.Thorough(t)
	solutionsAreRight(t, everyWorkload)
}

const everyWorkload = 1 << 20

func solutionsAreRight(t *testing.T, workloads int) {
	ds := load(t)
	for _, s := range ds.Solutions {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			entry, _ := gokernel.EntryPoint(s.Definition)
			reference := harness.Program{Session: openGo(t), Build: harness.Build{Language: "go", EntryPoint: entry, DPS: true}}
			judgeAll(t, ds, s, reference, workloads)
		})
	}
}

// TestReferencesAreRightThorough measures every solution against the definition's
// Python.
func TestReferencesAreRightThorough(t *testing.T) {
	testtier.Thorough(t)
	python := torch(t)
	ds, dir := load(t), t.TempDir()
	if err := workers.Write(dir); err != nil {
		t.Fatal(err)
	}
	session := open(t, append(workers.Python(python, dir, workers.Torch), workers.Trusted)...)
	for _, s := range ds.Solutions {
		t.Run(s.Name, func(t *testing.T) {
			build := harness.Build{ID: s.Name, Language: "python", EntryPoint: "main.py::run", Dir: t.TempDir()}
			put(t, build.Dir, flashinfer.Source{Path: "main.py", Content: ds.Definition(s.Definition).Reference})
			judgeAll(t, ds, s, harness.Program{Session: session, Build: build}, everyWorkload)
		})
	}
}

func torch(t *testing.T) string {
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import torch").Run() == nil {
			return python
		}
	}
	testtier.Missing(t, "the references were NOT tested: install Debian's python3-torch")
	return ""
}

func open(t *testing.T, args ...string) *harness.Session {
	t.Helper()
	w := &worker.Isolated{Grace: 10 * time.Millisecond, MaxStdout: 1 << 20}
	req := worker.Request{Args: args, Env: []string{child + "=1", "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0", "OMP_NUM_THREADS=1"}}
	s, err := harness.Open(within(t), w, req, harness.Hello{Device: "cpu"}, harness.Limits{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func openGo(t *testing.T) *harness.Session {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return open(t, self)
}

func openC(t *testing.T) *harness.Session {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		testtier.Missing(t, "the solution in C was NOT tested: install a C compiler named cc")
	}
	dir := t.TempDir()
	if err := workers.Write(dir); err != nil {
		t.Fatal(err)
	}
	args, program := workers.Compile("cc", dir)
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return open(t, program)
}

// within ends a test that hangs. No test asserts a time.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func put(t *testing.T, dir string, files ...flashinfer.Source) {
	t.Helper()
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Path), []byte(f.Content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const attempts = 3

func judgeAll(t *testing.T, ds *flashinfer.Dataset, s *flashinfer.Solution, reference harness.Program, workloads int) {
	t.Helper()
	solution := harness.Program{Build: harness.Build{Language: s.Language, Definition: s.Definition, EntryPoint: s.EntryPoint,
		DPS: s.DestinationPassing, Dir: t.TempDir()}}
	if solution.Session = openGo(t); s.Language == "c" {
		solution.Session = openC(t)
		put(t, solution.Build.Dir, s.Sources...)
	}
	d := ds.Definition(s.Definition)
	all := ds.WorkloadsOf(d.Name)
	for _, w := range all[:min(len(all), workloads)] {
		c := caseOf(t, ds, d, w)
		settings := harness.Settings{Warmup: 1, Iterations: 4, Trials: 1, MaxIterations: 8, MinTime: time.Hour, MaxFresh: 16, Dir: t.TempDir(),
			Judge: judge(c, d, ds, w)}
		m, err := harness.Measure(within(t), c, reference, solution, settings)
		for n := 1; n < attempts && err == nil && m.Status == evaluator.Suspect; n++ { // a loaded host stretches calls
			t.Logf("%s: attempt %d of %d: %s", w.Workload.UUID, n, attempts, m.Reason)
			m, err = harness.Measure(within(t), c, reference, solution, settings)
		}
		if err != nil || m.Status != evaluator.Passed {
			t.Errorf("%s: status %s, reason %q, error %v", w.Workload.UUID, m.Status, m.Reason, err)
		}
	}
}

// caseOf asks for random inputs as a suite does. Those of sampling are drawn
// often enough for a vocabulary of 256.
func caseOf(t *testing.T, ds *flashinfer.Dataset, d *flashinfer.Definition, w *flashinfer.Trace) harness.Case {
	t.Helper()
	shapes, err := d.Shapes(&w.Workload)
	if err != nil {
		t.Fatal(err)
	}
	c := harness.Case{Definition: d.Name, Workload: w.Workload.UUID, Secret: harness.NewSecret()}
	if d.OpType == "sampling" {
		c.Draws = 5000
	}
	for _, in := range d.Inputs {
		one := harness.Input{Name: in.Name, DType: in.DType, Shape: shapes[in.Name]}
		switch from := w.Workload.Inputs[in.Name]; {
		case from.Type == flashinfer.Scalar:
			one.Scalar = json.Number(strconv.FormatFloat(from.Value, 'g', -1, 64))
		case from.Type == flashinfer.Safetensors:
			one.File = &harness.File{Path: ds.BlobPath(from), Key: from.TensorKey}
		case in.Name == "probs":
			one.Dist = harness.Probabilities
		}
		c.Inputs = append(c.Inputs, one)
	}
	for _, out := range d.Outputs {
		c.Outputs = append(c.Outputs, harness.Output{Name: out.Name, DType: out.DType, Shape: shapes[out.Name]})
	}
	return c
}

func judge(c harness.Case, d *flashinfer.Definition, ds *flashinfer.Dataset, w *flashinfer.Trace) func(harness.Pair) (evaluator.Status, error) {
	return func(p harness.Pair) (evaluator.Status, error) {
		var r evaluator.Result
		var err error
		switch {
		case p.Draws:
			r, err = judgeDraws(c, d, ds, w, p)
		case c.Draws > 0:
			return evaluator.Passed, nil
		default:
			r, err = evaluator.Elementwise(p.Reference, p.Solution, evaluator.Params{Reduction: 256})
		}
		return r.Status, err
	}
}

func judgeDraws(c harness.Case, d *flashinfer.Definition, ds *flashinfer.Dataset, w *flashinfer.Trace, p harness.Pair) (r evaluator.Result, err error) {
	probs, err := c.Random(c.Inputs[0], p.Trial, p.Set)
	if err != nil {
		return r, err
	}
	draws := make([]int64, p.Solution[0].Tensor.Elements())
	p.Solution[0].Tensor.Ints(draws, 0)
	limit := func(name string, i int) float64 {
		in, given := w.Workload.Inputs[name]
		if !given {
			return 1
		}
		v := []float64{0}
		t, problem := blobs{}.read(ds.BlobPath(in), in.TensorKey)
		err = errors.Join(err, problem)
		t.Floats64(v, i)
		return v[0]
	}
	batch := probs.Shape[0]
	rows := make([]evaluator.Row, batch)
	for i := range rows {
		row := evaluator.Row{Probs: make([]float32, probs.Shape[1]), TopK: int(limit("top_k", i)), TopP: limit("top_p", i)}
		probs.Floats(row.Probs, i*probs.Shape[1])
		for at := i; at < len(draws); at += batch {
			row.Samples = append(row.Samples, draws[at])
		}
		rows[i] = row
	}
	if err != nil {
		return r, err
	}
	return evaluator.Sampling(evaluator.MethodOf(d.Name), rows, evaluator.Params{})
}
