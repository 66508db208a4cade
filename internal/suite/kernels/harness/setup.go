package harness

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/tensor"
)

const (
	setups    = 5           // calls of setup, at most
	setupTime = time.Second // after which no further one begins
	// apart is the set of the inputs that setup gets: no call has it.
	apart = -1
)

// setupPrefix begins the names of the tensors that setup gets.
const setupPrefix = "setup."

// shown reports whether setup gets an input as the calls do: numbers of the
// workload, and indices of its files, which say where the data of a call lies.
func (i Input) shown() bool {
	return i.Scalar != "" || i.Shape == nil || i.File != nil && (i.DType == tensor.Int32 || i.DType == tensor.Int64)
}

// unseen reports whether calls get an input that neither setup nor a file has.
func (i Input) unseen() bool { return i.random() && (tensor.Tensor{Shape: i.Shape}).Elements() > 0 }

// forSetup asks a worker for an input as setup gets it. All but those that are shown
// are random, by a seed that no input of a call has, and each call of setup gets
// tensors of its own: one that it keeps is in no call.
func (c Case) forSetup(in Input, n int) Tensor {
	if !in.shown() {
		in.File = nil
	}
	q := c.request(in, n, apart)
	q.Name = setupPrefix + in.Name
	return q
}

// offered takes over which inputs a function's setup takes, as its worker says.
func (s *side) offered(r BuildReply) error {
	if s.setup = nil; !s.build.Setup || r.Setup == nil {
		return nil
	}
	for i, name := range r.Setup {
		if !slices.ContainsFunc(s.build.Inputs, func(p Param) bool { return p.Name == name }) || slices.Contains(r.Setup[:i], name) {
			return s.by(
				s.blame("build", fmt.Errorf("its setup takes %.80q, which is not an input of the definition, or is named twice", name)),
			)
		}
	}
	s.setup = r.Setup
	return nil
}

// prepareSolution has the solution's setup called a few times, and keeps how long
// each call took. It is refused where all inputs are known beforehand: then it could
// compute the outputs.
func (p *trialProtocol) prepareSolution(ctx context.Context) error {
	if p.solution.setup == nil {
		return nil
	}
	if !slices.ContainsFunc(p.Inputs, Input.unseen) {
		p.Status, p.Reason = evaluator.RuntimeError, "setup was not called, because no input of the workload is random: "+
			"setup could compute the outputs; remove setup from the solution, or measure a workload with a random input"
		return nil
	}
	start, request := p.solution.now(), time.Duration(math.MaxInt64) // what the request takes: other work on the host makes it longer
	var times []time.Duration
	for n := 0; n < setups && (n == 0 || p.solution.now().Sub(start) < setupTime); n++ {
		idle, err := p.reference.Setup(ctx, Setup{Args: []string{}})
		if err != nil {
			return p.reference.by(err)
		}
		took, err := p.setUp(ctx, p.solution)
		if err != nil {
			return err
		}
		times, request = append(times, took), min(request, idle)
	}
	for _, took := range times {
		p.Setup = append(p.Setup, float64(max(0, took-request).Nanoseconds()))
	}
	return nil
}

// setUp has a side's setup called once, for the shapes of the case as it is now.
func (p *trialProtocol) setUp(ctx context.Context, s *side) (time.Duration, error) {
	if s.setup == nil {
		return 0, nil
	}
	q, n := Setup{ID: s.build.ID, Args: []string{}}, p.prepared
	p.prepared++
	for _, in := range p.Inputs {
		if !slices.Contains(s.setup, in.Name) {
			continue
		}
		if _, err := s.Tensor(ctx, p.forSetup(in, n)); err != nil {
			return 0, s.by(err)
		}
	}
	for _, name := range s.setup {
		q.Args = append(q.Args, setupPrefix+name)
	}
	took, err := s.Setup(ctx, q)
	if err == nil {
		err = s.Release(ctx, q.Args...)
	}
	return took, s.by(err)
}

// setUpAnew has the solution's setup called for another case. What the workers hold
// of the last one is freed first.
func (p *trialProtocol) setUpAnew(ctx context.Context) error {
	s := p.solution
	if s.setup == nil {
		return nil
	}
	if err := s.Release(ctx, p.names()...); err != nil {
		return s.by(err)
	}
	_, err := p.setUp(ctx, s)
	return err
}
