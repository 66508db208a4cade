package kernels

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

// inputProblem is what is wrong with a case's own files: neither the solution
// nor the host is to blame.
type inputProblem struct{ error }

// kase makes the case of a point. What its workload lacks or breaks is an
// inputProblem.
func (s *Suite) kase(p *point) (harness.Case, error) {
	d, w := p.definition, p.workload
	shapes, err := d.Shapes(w)
	if err != nil {
		return harness.Case{}, inputProblem{err}
	}
	if err := s.checkBlobs(p, shapes); err != nil {
		return harness.Case{}, inputProblem{err}
	}
	if err := d.CheckConstraints(w.Axes, shapes, func(name string) (int64, error) { return s.last(w.Inputs[name]) }); err != nil {
		return harness.Case{}, inputProblem{err}
	}
	c := harness.Case{Definition: d.Name, Workload: w.UUID, Secret: s.secret()}
	for _, in := range d.Inputs {
		c.Inputs = append(c.Inputs, s.input(d, in, w.Inputs[in.Name], shapes[in.Name]))
	}
	if bytes := held(c); bytes > s.body.MaxInputGiB*(1<<30) {
		return c, unavailable{
			fmt.Errorf("its inputs take %.3g GiB (two workers, %d sets): raise max_input_gib above that, or choose a smaller workload",
				bytes/(1<<30), sets+freshSets),
		}
	}
	for _, out := range d.Outputs {
		shape := shapes[out.Name]
		if out.Scalar {
			shape = []int{}
		}
		c.Outputs = append(c.Outputs, harness.Output{Name: out.Name, DType: out.DType, Shape: shape})
	}
	c.Bytes, c.Odd = traffic(c), s.odd(p, c)
	return c, nil
}

// secret is a new one for each measurement, because the trace shows it to those
// that follow, unless an earlier measurement is replayed.
func (s *Suite) secret() harness.Secret {
	if s.body.Replay != (harness.Secret{}) {
		return s.body.Replay
	}
	return harness.NewSecret()
}

// sets is how many sets of inputs a trial has.
const sets = 3

// freshSets is how many of those that meet fresh inputs count: more of them are small.
const freshSets = 1

// held is how many bytes the inputs of a case take while it is measured: the
// workers of reference and solution have each random input once for each set,
// and each other one once.
func held(c harness.Case) (bytes float64) {
	const workers = 2
	for _, in := range c.Inputs {
		n := tensor.Tensor{Shape: in.Shape}.Elements()
		if n < 0 { // more than can be counted
			return math.Inf(1)
		}
		size := float64(in.DType.Size(n))
		if in.File == nil && in.Scalar == "" {
			size *= sets + freshSets
		}
		bytes += workers * size
	}
	return bytes
}

// input returns where an input comes from. One that the workload does not name is
// random, as upstream has it.
func (s *Suite) input(d *flashinfer.Definition, t flashinfer.Tensor, from flashinfer.Input, shape []int) harness.Input {
	in := harness.Input{Name: t.Name, DType: t.DType, Shape: shape}
	switch from.Type {
	case flashinfer.Scalar:
		in.Scalar = json.Number(strconv.FormatFloat(from.Value, 'g', -1, 64))
	case flashinfer.Safetensors:
		in.File = &harness.File{Path: s.dataset.BlobPath(from), Key: from.TensorKey}
	default:
		if d.OpType == samplingOp && t.Name == "probs" {
			in.Dist = harness.Probabilities
		}
	}
	return in
}

// checkBlobs reports a missing file before any worker is asked.
func (s *Suite) checkBlobs(p *point, shapes map[string][]int) error {
	for _, t := range p.definition.Inputs {
		in := p.workload.Inputs[t.Name]
		if in.Type != flashinfer.Safetensors {
			continue
		}
		info, err := os.Stat(s.dataset.BlobPath(in))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("the blob of input %s, %s, is missing: download the dataset's blobs (git lfs pull)", t.Name, in.Path)
		case err != nil:
			return fmt.Errorf("the blob of input %s: %w: correct its permissions", t.Name, err)
		case !info.Mode().IsRegular(): // opening a pipe would wait for a writer
			return fmt.Errorf("the blob of input %s, %s, is not a regular file: correct the workload", t.Name, in.Path)
		}
		if err := s.checkBlob(t, in, shapes[t.Name]); err != nil {
			return fmt.Errorf("the blob of input %s, %s: %w: download it again, or correct the workload", t.Name, in.Path, err)
		}
	}
	return nil
}

func (s *Suite) checkBlob(t flashinfer.Tensor, in flashinfer.Input, shape []int) error {
	return s.withBlob(in, func(found tensor.Tensor) error {
		if found.DType != t.DType && t.DType != tensor.Float4E2M1 ||
			!t.Scalar && t.DType != tensor.Float4E2M1 && !slices.Equal(found.Shape, shape) {
			return fmt.Errorf("%s is %s %v where %s %v is wanted", in.TensorKey, found.DType, found.Shape, t.DType, shape)
		}
		return nil
	})
}

// last returns the last element of an input that comes from a file.
func (s *Suite) last(in flashinfer.Input) (int64, error) {
	if in.Type != flashinfer.Safetensors {
		return 0, fmt.Errorf("it does not come from a file")
	}
	var last [1]int64
	err := s.withBlob(in, func(t tensor.Tensor) error {
		if n := t.Elements(); n < 1 || t.Ints(last[:], n-1) != 1 {
			return fmt.Errorf("%s of %s holds no whole number", in.TensorKey, in.Path)
		}
		return nil
	})
	return last[0], err
}

func (s *Suite) withBlob(in flashinfer.Input, use func(tensor.Tensor) error) error {
	file, err := safetensors.Open(s.dataset.BlobPath(in))
	if err != nil {
		return err
	}
	defer file.Close()
	t, err := file.Tensor(in.TensorKey)
	if err != nil {
		return err
	}
	return use(t)
}
