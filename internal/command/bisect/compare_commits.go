package bisect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/measure/runner"
	"github.com/accelgate/accelgate/internal/text"
)

// pairRun measures one cell of two checkouts alternately.
type pairRun struct {
	*measure.Env
	base, head measuredSide
	lanes      measure.Lanes
	device     bench.Device
	metric     bench.Metric
	failed     int // pairs in which something went wrong
	// baseValues and headValues were measured alternately.
	baseValues, headValues []float64
}

// measuredSide is the cell in one checkout.
type measuredSide struct {
	session  *measure.Session
	measurer runner.Measurer
	cell     bench.Cell
}

// unusable describes why a commit cannot be judged. It is no error: git bisect skips
// such commits.
type unusable struct{ error }

func (u unusable) Unwrap() error { return u.error }

// newPairRun opens the cell in both checkouts and takes its device. The metric is
// chosen from what the base measures, which is the warm-up of it; the head's
// follows. Close must be called. An unusable error is about the head.
func newPairRun(ctx context.Context, e *measure.Env, b *bisection) (*pairRun, error) {
	t := &pairRun{Env: e}
	var err error
	if t.base, err = openSide(ctx, e, b, b.GoodDir, "good"); err != nil {
		return nil, err
	}
	if t.head, err = openSide(ctx, e, b, b.HeadDir, "head"); err != nil {
		t.base.session.Close()
		return nil, unusable{err}
	}
	if t.lanes, err = t.head.session.Lease(ctx); err == nil {
		t.device = t.lanes.For(t.head.cell)
		err = t.warm(ctx, b)
	}
	if err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *pairRun) close() {
	t.lanes.Release()
	t.base.session.Close()
	t.head.session.Close()
}

// openSide opens the one cell in a checkout.
func openSide(ctx context.Context, e *measure.Env, b *bisection, root, name string) (measuredSide, error) {
	o := b.options()
	o.Out = filepath.Join(b.State, name)
	c, err := e.Configure(&o)
	if err == nil {
		c, err = c.In(filepath.Join(root, b.Prefix))
	}
	if err != nil {
		return measuredSide{}, err
	}
	session, err := e.OpenHere(ctx, &c)
	if err != nil {
		return measuredSide{}, err
	}
	var found []measuredSide
	var ids []string
	for _, s := range session.Plan.Suites {
		for _, cell := range s.Cells {
			ids = append(ids, text.OneLine(cell.ID()))
			if b.Cell == "" || cell.ID() == b.Cell {
				found = append(found, measuredSide{session: session, measurer: session.Measurer(), cell: cell})
			}
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	session.Close()
	if len(found) > 1 {
		return measuredSide{}, exit.Usagef("--only matches %d cells, as %s: name one of them", len(found),
			strings.Join(ids[:min(len(ids), 5)], ", "))
	}
	return measuredSide{}, errors.New("this host cannot run the cell there: see 'accelgate plan' in a checkout of that commit")
}

// measure measures a side once, in a fresh process.
func (s *measuredSide) measure(ctx context.Context, d bench.Device) (*bench.Result, error) {
	r, err := s.measurer.Measure(ctx, s.cell, d)
	if err == nil {
		err = s.session.Release(s.cell.Suite, d)
	}
	switch {
	case err != nil:
		return nil, err
	case r.Outcome != bench.Passed:
		return nil, unusable{fmt.Errorf("the cell did not pass: %s: %s", r.Outcome, text.OneLine(r.Reason))}
	case r.Caveat != "":
		return nil, unusable{fmt.Errorf("its numbers are doubtful: %s", text.OneLine(r.Caveat))}
	}
	return &r, nil
}

// warm measures both sides once and keeps nothing of it, because the first
// process after a build finds cold caches.
func (t *pairRun) warm(ctx context.Context, b *bisection) error {
	base, err := t.base.measure(ctx, t.device)
	if err != nil {
		return fmt.Errorf("measure %s: %w", b.Good, plain(err))
	}
	if t.metric, err = t.choose(b.Metric, base); err != nil {
		return err
	}
	head, err := t.head.measure(ctx, t.device)
	if err == nil {
		_, err = t.value(head)
	}
	return err
}

// plain makes an error one that ends the bisection.
func plain(err error) error {
	var u unusable
	if errors.As(err, &u) {
		return fmt.Errorf("%w; choose a good commit at which it passes", u.error)
	}
	return err
}

// choose finds the metric to compare: the named one, or the only one that is
// gated.
func (t *pairRun) choose(name string, r *bench.Result) (bench.Metric, error) {
	var gated []bench.Metric
	var names []string
	for _, m := range t.base.session.Plan.Metrics {
		s := r.Sample(m.Name)
		if s == nil || len(s.Values) == 0 || m.Exact {
			continue
		}
		names = append(names, m.Name)
		if m.Name == name {
			return m, nil
		}
		if over := r.Sample(m.FallbackFor); !m.Informational && (over == nil || len(over.Values) == 0 || over.Values[0] <= 0) {
			gated = append(gated, m)
		}
	}
	switch {
	case name != "":
		return bench.Metric{}, exit.Usagef("--metric: the cell measures no speed %q: use one of %s", text.OneLine(name),
			strings.Join(names, ", "))
	case len(gated) != 1:
		return bench.Metric{}, exit.Usagef("the cell has %d gated metrics: name one with --metric, of %s", len(gated),
			strings.Join(names, ", "))
	}
	return gated[0], nil
}

func (t *pairRun) value(r *bench.Result) (float64, error) {
	s := r.Sample(t.metric.Name)
	if s == nil || len(s.Values) == 0 || s.Values[len(s.Values)-1] <= 0 {
		return 0, unusable{fmt.Errorf("it measured no %s above 0", t.metric.Name)}
	}
	return s.Values[len(s.Values)-1], nil
}

// judge measures pairs until it is clear whether the head is slower than the base.
func (t *pairRun) judge(ctx context.Context, o detect.Options, attempts int) (e detect.Evidence, err error) {
	o.HigherIsBetter = t.metric.Better != bench.Lower
	for attempt := range attempts {
		l := looksOf(attempt, attempts)
		for want := l.first; want > 0; {
			for len(t.baseValues) < want {
				if err := t.pair(ctx); err != nil {
					return detect.Evidence{}, err
				}
			}
			e, want = l.next(t.baseValues, t.headValues, o)
		}
		if decided(e.Verdict) {
			break
		}
	}
	return e, nil
}

// decided reports whether more pairs would not change the answer to git bisect.
func decided(v detect.Verdict) bool {
	return slices.Contains([]detect.Verdict{detect.Regressed, detect.Unchanged, detect.Improved}, v)
}

// maxFailed is how many pairs may go wrong before a commit is given up.
const maxFailed = 3

// pair measures both sides, in an order that a coin decides, so that neither
// gains by coming second. A pair of which one side fails counts for nothing.
func (t *pairRun) pair(ctx context.Context) error {
	sides := []*measuredSide{&t.base, &t.head}
	values := [2]float64{}
	first := rand.IntN(2)
	for _, n := range []int{first, 1 - first} {
		r, err := sides[n].measure(ctx, t.device)
		if err == nil {
			values[n], err = t.value(r)
		}
		if err != nil {
			return t.tolerate(err)
		}
	}
	t.baseValues, t.headValues = append(t.baseValues, values[0]), append(t.headValues, values[1])
	return nil
}

// tolerate drops the error of a failed pair for as long as there are few.
func (t *pairRun) tolerate(err error) error {
	var u unusable
	if t.failed++; errors.As(err, &u) && t.failed <= maxFailed {
		return nil
	}
	return err
}

// change writes evidence for people, in the metric's own terms.
func (t *pairRun) change(e *detect.Evidence) string { return bisected(e, t.metric) }

func bisected(e *detect.Evidence, m bench.Metric) string {
	c := judge.ChangeOf(e.Estimate, m.Better)
	interval := judge.IntervalOf(e, m.Better)
	return fmt.Sprintf("%s %s, 95 %%: %+.1f to %+.1f, p %.1g, %s", m.Name, c, 100*interval[0], 100*interval[1], e.P,
		text.Plural(e.N, "pair"))
}

// half is the change halfway between none and all of it, by factors.
func half(change float64) float64 { return math.Sqrt(1+change) - 1 }
