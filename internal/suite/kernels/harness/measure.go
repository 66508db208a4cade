package harness

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
)

// Program is a function and the worker that runs it. Its Build says what to
// build; Inputs and Outputs of it are filled in from the case.
type Program struct {
	Session *Session
	Build   Build
}

// Settings say how a case is measured. A zero field has the default that it
// names; those of the first three are FlashInfer-Bench's.
type Settings struct {
	Warmup     int // calls before each request that is timed: 10
	Iterations int // timed calls per trial, at least: 50
	Trials     int // 3
	// Sets is how many sets of inputs a trial has, 3 and at least 3. They are
	// used alternately, in an order that is chosen after the build.
	Sets int
	// MinTime is how long N calls must take for the worker's timer to be
	// checked: 50 ms. Iterations are raised until they do, to at most
	// MaxIterations, 2^17.
	MinTime       time.Duration
	MaxIterations int
	// MaxFresh is how many calls with fresh inputs a request has at most: 64.
	MaxFresh  int
	ColdCache bool
	Timer     string // empty leaves it to the worker
	// Graph has a CUDA graph of the solution timed as well, as evidence.
	Graph bool
	// NoBaseline leaves out timing the reference.
	NoBaseline bool
	// Dir is where private folders for outputs are made. It should be in
	// memory, as /dev/shm is.
	Dir string
	// Judge returns whether a pair of outputs agrees; anything but Passed ends the
	// measurement with that status after the current set of pairs. Nil judges
	// nothing.
	Judge func(Pair) (evaluator.Status, error)
}

func (s Settings) withDefaults() Settings {
	s.Warmup, s.Iterations, s.Trials = cmp.Or(s.Warmup, 10), cmp.Or(s.Iterations, 50), cmp.Or(s.Trials, 3)
	s.Sets, s.MinTime, s.MaxIterations = max(s.Sets, 3), cmp.Or(s.MinTime, 50*time.Millisecond), cmp.Or(s.MaxIterations, 1<<17)
	s.MaxFresh = cmp.Or(s.MaxFresh, 64)
	if s.Judge == nil {
		s.Judge = func(Pair) (evaluator.Status, error) { return evaluator.Passed, nil }
	}
	return s
}

// Pair is what reference and solution computed from the same inputs.
type Pair struct {
	Trial, Set int
	// AfterTiming means that the solution's outputs are those of its last timed
	// call. The last such pairs have a Trial above those of [Settings]: the check
	// whether results are kept uses inputs of its own.
	AfterTiming bool
	// Other means that the inputs are not those of [Case.Random]: they are scaled, or
	// of another shape. Such pairs have a Trial above those of [Settings], too.
	Other bool
	// Draws means that the solution's outputs are those of [Case].Draws calls,
	// stacked along a new first axis.
	Draws               bool
	Reference, Solution []evaluator.Output
}

// Measurement is what became of a case.
type Measurement struct {
	// Status is Passed where nothing was wrong, and where the judge says so.
	Status evaluator.Status
	Reason string   // why not Passed; empty if the judge has the reason
	Blame  string   // "reference" or "solution", where Failure is set
	Failed *Failure // nil if no worker did anything wrong

	Reference, Solution Timing
	// Setup are the nanoseconds of calls of the solution's setup, by our clock without
	// the request; nil if it has none. The first one may compile or tune.
	Setup    []float64
	Warnings []string // why times may be doubtful
}

// Timing is how long a function takes.
type Timing struct {
	Timer string
	// NS has, of each trial, the nanoseconds of its calls in their order, at most
	// 4096: of more, those at even distances by rank, so that the median and the
	// spread are those of all.
	NS    [][]int64
	Calls []int // that each trial timed
	// Slope has, for each block of a trial, the nanoseconds per call by our own
	// clock: what 3N calls took longer than N, divided by 2N. It includes what the
	// worker's loop costs.
	Slope [][]float64
	// Values are the nanoseconds of a call by our own clock, without the loop, of
	// all blocks. Their median is what a call takes; NS is evidence only, because
	// the worker says so.
	Values []float64
	// Device has what the device itself needed, of each trial: evidence as NS is.
	Device []ObserveReply
}

// Measure has both programs compute the case, has the outputs judged, and times
// both, alternately. The sessions are not closed; one that is dead afterwards was
// ended because of its worker's behaviour. An error means that nothing can be
// measured here any more or ctx is done; the Measurement holds what is known.
func Measure(ctx context.Context, c Case, reference, solution Program, s Settings) (m Measurement, err error) {
	var seed [32]byte
	_, _ = rand.Read(seed[:]) // never fails
	if c.Secret == (Secret{}) {
		c.Secret = NewSecret()
	}
	p := &trialProtocol{Case: c, Settings: s.withDefaults(), Measurement: &m, random: mathrand.New(mathrand.NewChaCha8(seed))}
	if p.reference, err = p.side("reference", reference, &m.Reference); err == nil {
		p.solution, err = p.side("solution", solution, &m.Solution)
	}
	defer p.close()
	if err == nil {
		err = p.run(ctx)
	}
	return m, p.conclude(ctx, err)
}

// trialProtocol is one measurement as it goes on.
type trialProtocol struct {
	Case
	Settings
	*Measurement
	random              *mathrand.Rand
	reference, solution *side
	blocks              int           // of a trial
	freshCalls          int           // of a round
	judged              int           // which rounds are
	began               time.Time     // when timing of the trial began
	took                time.Duration // what 3N calls took longer than N, over all blocks of the solution
	rounds              []round
	evidence            []evidence // of each block
	copying             float64    // nanoseconds, 0 if not known yet
	scale               float64    // of random inputs that are floats, 0 for none
	contents            int        // that random inputs have had so far
	prepared            int        // calls of setup so far
}

// content returns a number that no trial has had: random inputs depend on it.
func (p *trialProtocol) content() int {
	p.contents++
	return p.contents - 1
}

// side is a program at work.
type side struct {
	*Session
	name   string
	build  Build
	dir    string // only for its outputs
	timing *Timing
	files  int
	// overhead is what the loop costs per call, in nanoseconds; recent are the
	// slopes since the last round of fresh inputs.
	overhead float64
	recent   []float64
	perBlock int               // calls of the shorter request of a block
	whole    []float64         // nanoseconds of the longer requests by their calls, of each block: no call takes longer
	inputs   map[string]string // digests
	setup    []string          // inputs that its setup takes; nil if it has none
}

func (p *trialProtocol) side(name string, program Program, timing *Timing) (*side, error) {
	dir, err := os.MkdirTemp(p.Dir, name+"-*") // with the permissions 0700
	if err != nil {
		return nil, fmt.Errorf("make a folder for outputs: %w; choose another folder", err)
	}
	b := program.Build
	b.ID = cmp.Or(b.ID, name)
	for _, in := range p.Inputs {
		b.Inputs = append(b.Inputs, Param{in.Name, in.DType, in.Shape == nil})
	}
	for _, out := range p.Outputs {
		b.Outputs = append(b.Outputs, Param{out.Name, out.DType, false})
	}
	return &side{Session: program.Session, name: name, build: b, dir: dir, timing: timing, inputs: map[string]string{}}, nil
}

func (p *trialProtocol) close() {
	for _, s := range []*side{p.reference, p.solution} {
		if s != nil {
			_ = os.RemoveAll(s.dir)
		}
	}
}

// blamed is a failure and whose it is.
type blamed struct {
	side *side
	*Failure
}

func (b blamed) Unwrap() error { return b.Failure }

// by returns whose an error is.
func (s *side) by(err error) error {
	var f *Failure
	if errors.As(err, &f) {
		return blamed{s, f}
	}
	return err
}

// conclude turns a failure into a status, and frees what the workers hold.
func (p *trialProtocol) conclude(ctx context.Context, err error) error {
	var b blamed
	switch {
	case errors.As(err, &b):
		p.Failed, p.Blame, p.Status, p.Reason = b.Failure, b.side.name, b.Kind.Status(), b.Failure.Error()
		if err := b.side.recover(ctx, b.Kind); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	p.Status = cmp.Or(p.Status, evaluator.Passed)
	return p.free(ctx)
}

// recover asks a worker that failed or ran out of memory whether its device
// still computes, and ends it if not: whoever comes next must not find out.
func (s *side) recover(ctx context.Context, kind Kind) error {
	if s.Dead() || kind != Runtime && kind != OutOfMemory {
		return nil
	}
	if err := s.Check(ctx); !errors.As(err, new(*Failure)) {
		return err
	}
	return nil
}

// free releases what the workers that live on hold.
func (p *trialProtocol) free(ctx context.Context) error {
	for _, s := range []*side{p.reference, p.solution} {
		if s.Dead() {
			continue
		}
		if err := s.Release(ctx, p.names()...); err != nil && !errors.As(err, new(*Failure)) {
			return err
		}
	}
	return nil
}

func (p *trialProtocol) names() (names []string) {
	for set := range p.Sets + p.freshCalls {
		s := p.slot(set)
		names = slices.Concat(names, s.Args, s.Out)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (p *trialProtocol) run(ctx context.Context) error {
	for _, s := range []*side{p.reference, p.solution} {
		reply, err := s.Build(ctx, s.build)
		if err == nil {
			err = s.offered(reply)
		}
		if err != nil {
			return s.by(err)
		}
	}
	if err := p.prepareSolution(ctx); err != nil || p.Status != "" {
		return err
	}
	return p.attempts(ctx)
}

// trial computes, judges, times, and judges again.
func (p *trialProtocol) trial(ctx context.Context, trial int) error {
	wanted, err := p.compute(ctx, p.reference, trial)
	if err != nil {
		return err
	}
	got, err := p.compute(ctx, p.solution, trial)
	if err != nil {
		return err
	}
	for set := range got {
		if err := p.judge(Pair{Trial: trial, Set: set, Reference: wanted[set], Solution: got[set]}); err != nil {
			return err
		}
	}
	if p.Status == "" && trial == 0 && p.Draws > 0 {
		err = p.draw(ctx, wanted[0])
	}
	if err != nil || p.Status != "" {
		return err
	}
	p.began = p.solution.now()
	if err := p.time(ctx); err != nil {
		return err
	}
	for _, set := range p.random.Perm(p.Sets)[:2] {
		got, err := p.saved(ctx, p.solution, set)
		if err == nil {
			err = p.judge(Pair{Trial: trial, Set: set, AfterTiming: true, Reference: wanted[set], Solution: got})
		}
		if err != nil {
			return err
		}
	}
	return p.observe(ctx)
}

// judge keeps the first status that is not Passed.
func (p *trialProtocol) judge(pair Pair) error {
	if i := unwritten(pair); i >= 0 {
		return blamed{p.solution, &Failure{Op: "run", Kind: Unwritten, Message: fmt.Sprintf(
			"output %q was left as it was before the call: write all outputs, to the tensors that the function is given",
			p.Outputs[i].Name)}}
	}
	status, err := p.Judge(pair)
	if err == nil && status != evaluator.Passed && p.Status == "" {
		p.Status = status
	}
	return err
}
