package harness

import (
	"context"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/tensor"
)

const (
	freshRounds = 12              // of an attempt, over all trials
	minFresh    = 5               // rounds, however long they take
	freshTime   = 2 * time.Second // of a trial, after which no further round begins
	freshJudged = 3               // of so many rounds outputs are judged in one, and in the first
	// freshWork is about what all calls of a round take: much more than the
	// request does that they are made in.
	freshWork = 2 * time.Millisecond
	// freshBytes bounds the inputs of a round, which should not push those of the
	// trial out of the caches, and askedBytes the outputs that are asked for.
	freshBytes = 8 << 20
	askedBytes = 64 << 20
)

// maxFresh is how many rounds an attempt has.
func (p *trialProtocol) maxFresh() int { return max(freshRounds, p.Trials) }

// freshSize returns how many calls a round has, each with inputs of its own: one
// where that is enough, so that nothing says whether another one follows.
func (p *trialProtocol) freshSize(call float64) int {
	bytes := 1
	for _, in := range p.Inputs {
		if n := (tensor.Tensor{Shape: in.Shape}).Elements(); in.random() && n > 0 {
			bytes += in.DType.Size(n)
		}
	}
	return max(1, min(p.MaxFresh, int(float64(freshWork.Nanoseconds())/call), freshBytes/bytes))
}

// timeFreshInputs is a round: calls with inputs that no call had before, by our clock,
// and right after them the request for outputs of theirs that are chosen now. All
// that the solution leaves out, keeps from earlier calls, or does before or after
// the request shows in one of these times. The reference does the same, and the
// same calls once more: what fresh inputs cost beside.
//
// The solution's outputs are taken before the reference computes the same, so
// that no worker holds an answer that the solution still has to give.
func (p *trialProtocol) timeFreshInputs(ctx context.Context) error {
	if !slices.ContainsFunc(p.Inputs, Input.random) {
		return nil
	}
	sets, asked := p.freshSets(), p.askedSets()
	content := p.content()
	own, err := p.visit(ctx, p.solution, content, sets, asked)
	if err != nil {
		return err
	}
	theirs, err := p.visit(ctx, p.reference, content, sets, asked)
	if err != nil {
		return err
	}
	again, err := p.request(ctx, p.reference, p.reference.build.ID, p.reference, sets)
	if err != nil {
		return err
	}
	idle, theirIdle, err := p.idle(ctx, sets)
	if err != nil {
		return err
	}
	p.rounds = append(p.rounds, p.round(own, theirs, again, idle, theirIdle))
	if err := p.forgetSets(ctx, p.reference, sets); err != nil {
		return err
	}
	if n := len(p.rounds); n > 1 && n%freshJudged != p.judged%freshJudged {
		return nil
	}
	for i, set := range asked {
		if err := p.judge(Pair{Trial: content, Set: set, AfterTiming: true, Reference: theirs.outputs[i],
			Solution: own.outputs[i]}); err != nil {
			return err
		}
	}
	return nil
}

// round sums a round up, per call.
func (p *trialProtocol) round(own, theirs visit, again, idle, theirIdle float64) round {
	calls := float64(p.freshCalls)
	r := round{
		calls: p.freshCalls, idle: theirIdle,
		long: max(1, stats.Median(p.solution.recent)-p.solution.overhead), fresh: max(1, (own.wall-idle)/calls),
		theirFresh: max(1, (theirs.wall-theirIdle)/calls), theirAgain: max(1, (again-theirIdle)/calls),
		makeQueued: own.makeQueued, wallQueued: own.wallQueued, askQueued: own.askQueued,
		ask: own.ask, askAgain: own.askAgain, theirAsk: theirs.ask, theirAskAgain: theirs.askAgain,
	}
	if len(p.reference.recent) > 0 { // both meet colder caches there
		r.theirAgain = max(1, min(r.theirAgain, stats.Median(p.reference.recent)-p.reference.overhead))
	}
	if p.alike() {
		r.make, r.theirMake = own.make, theirs.make
	}
	p.solution.recent, p.reference.recent = nil, nil
	return r
}

// visit is what a side did in a round. The times are nanoseconds by our clock.
type visit struct {
	make          float64 // of making the inputs
	wall          float64 // of the calls
	ask, askAgain float64 // of the request for outputs, and of the same once more
	outputs       [][]evaluator.Output
	// for how long of each the worker had no processor
	makeQueued, wallQueued, askQueued float64
}

func (p *trialProtocol) visit(ctx context.Context, s *side, content int, sets, asked []int) (v visit, err error) {
	queued, start := s.queued(), s.now()
	for _, set := range sets {
		if err := p.renew(ctx, s, content, set); err != nil {
			return v, err
		}
	}
	v.make = float64(s.now().Sub(start).Nanoseconds())
	v.makeQueued = s.queued() - queued
	for _, set := range sets {
		if err := p.poison(ctx, s, set); err != nil {
			return v, err
		}
	}
	queued = s.queued()
	if v.wall, err = p.request(ctx, s, s.build.ID, s, sets); err != nil {
		return v, err
	}
	called := s.queued()
	v.wallQueued = called - queued
	if v.outputs, v.ask, err = p.saveOutputs(ctx, s, asked); err != nil {
		return v, err
	}
	v.askQueued = s.queued() - called
	_, v.askAgain, err = p.saveOutputs(ctx, s, asked)
	return v, err
}

// request calls a function once with each of the sets, and returns how long that
// took by our clock.
func (p *trialProtocol) request(ctx context.Context, s *side, id string, of *side, sets []int) (float64, error) {
	q := Time{
		ID:         id,
		Poison:     id != "" || of.build.DPS,
		ColdCache:  p.ColdCache,
		Timer:      p.Timer,
		Order:      p.random.Perm(len(sets)),
		Iterations: len(sets),
	}
	for _, set := range sets {
		q.Slots = append(q.Slots, p.timed(q, set))
	}
	_, wall, err := s.Time(ctx, q)
	return float64(wall.Nanoseconds()), s.by(err)
}

// saveOutputs takes outputs of sets as they are, and returns how long that took.
func (p *trialProtocol) saveOutputs(ctx context.Context, s *side, sets []int) ([][]evaluator.Output, float64, error) {
	var names []string
	for _, set := range sets {
		names = append(names, p.slot(set).Out...)
	}
	path, start := s.path(), s.now()
	reply, err := s.Save(ctx, Save{Names: names, Save: path})
	took := float64(s.now().Sub(start).Nanoseconds())
	if err != nil {
		return nil, 0, s.by(err)
	}
	outputs, err := p.takeSets(s, path, reply, 0, len(sets))
	return outputs, took, err
}

// idle returns what the request takes with nothing to call, for the solution and
// for the reference. Only the reference's worker is asked, or also the solution's if it is
// of another kind, which may say that its requests take less.
func (p *trialProtocol) idle(ctx context.Context, sets []int) (own, theirs float64, err error) {
	empty := func(in, of *side) (float64, error) {
		if of.build.DPS && !in.build.DPS {
			for _, set := range sets {
				if err := p.allocate(ctx, in, p.slot(set).Out); err != nil {
					return 0, err
				}
			}
		}
		wall, err := p.request(ctx, in, "", of, sets)
		return wall, err
	}
	if theirs, err = empty(p.reference, p.reference); err != nil {
		return 0, 0, err
	}
	if own = theirs; p.reference.build.DPS != p.solution.build.DPS {
		if own, err = empty(p.reference, p.solution); err != nil {
			return 0, 0, err
		}
	}
	if p.alike() {
		return own, theirs, nil
	}
	wall, err := empty(p.solution, p.solution)
	return min(own, wall), theirs, err
}

// freshSets are the sets of a round, which are not those of a trial.
func (p *trialProtocol) freshSets() (sets []int) {
	for n := range p.freshCalls {
		sets = append(sets, p.Sets+n)
	}
	return sets
}

// askedSets chooses the sets of a round whose outputs are asked for: all, or as
// many as may be kept.
func (p *trialProtocol) askedSets() []int {
	bytes := 1
	for _, out := range p.Outputs {
		bytes += out.DType.Size(max(0, tensor.Tensor{Shape: out.Shape}.Elements()))
	}
	sets := p.freshSets()
	p.random.Shuffle(len(sets), func(i, j int) { sets[i], sets[j] = sets[j], sets[i] })
	return sets[:max(1, min(len(sets), askedBytes/bytes))]
}

// renew gives the random inputs of a set the contents of a trial, in place.
func (p *trialProtocol) renew(ctx context.Context, s *side, trial, set int) error {
	for _, in := range p.Inputs {
		if !in.random() {
			continue
		}
		if _, err := s.Tensor(ctx, p.Case.request(in, trial, set)); err != nil {
			return s.by(err)
		}
	}
	return nil
}

// forgetSets frees the outputs of sets in a worker.
func (p *trialProtocol) forgetSets(ctx context.Context, s *side, sets []int) error {
	var names []string
	for _, set := range sets {
		names = append(names, p.slot(set).Out...)
	}
	return s.by(s.Release(ctx, names...))
}
