package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/measure/runner"
	"github.com/accelgate/accelgate/internal/reference/worktree"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// defaultPairs is how many pairs of base and head are measured of each cell where
// nothing is measured again; otherwise the first look takes fewer.
const defaultPairs = 5

func firstPairs(p *gate.Policy) int {
	if p.OneLook {
		return defaultPairs
	}
	return detect.DefaultStages().Looks[0].Pairs
}

// base is the code that a run is compared with alternately: the same configuration
// opened in another checkout.
type base struct {
	session  *Session
	revision string
	pairs    int                   // of each cell, at first
	seed     uint64                // of the order within pairs
	cells    map[string]paired     // that are measured in pairs, by id
	owed     map[string]bool       // metrics that the head must report where the base does
	state    string                // of its files and configuration
	coins    map[string]*rand.Rand // by id: devices must not change each other's order
	flipped  map[string]bool       // the order of a cell's pair before, where the second one of two is due
	mu       sync.Mutex
	checkout *checkout      // that accelgate made of it; nil if the user did
	tried    bool           // it was not asked for
	laid     *worktree.Laid // the head's files in it; nil without any
	guard    *guard
}

// openIn opens the base in a folder, which has the head's files that were laid there.
func (s *Session) openIn(ctx context.Context, from *checkout, tried bool, laid *worktree.Laid) (*base, error) {
	opened, err := s.sessionOfBase(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("--ab: %w", err)
	}
	o := s.Plan.Options
	b := &base{
		session:  opened,
		pairs:    cmp.Or(o.Pairs, firstPairs(&s.Plan.Policy)),
		seed:     cmp.Or(o.PairSeed, rand.Uint64()>>11),
		cells:    map[string]paired{},
		owed:     map[string]bool{},
		coins:    map[string]*rand.Rand{},
		flipped:  map[string]bool{},
		checkout: from,
		tried:    tried,
		laid:     laid,
	}
	if b.revision = cmp.Or(opened.checkedOut(ctx), o.ABRevision); s.folder != nil {
		b.revision = s.folder.commit
	}
	if want := cmp.Or(s.mergedInto(ctx), o.ABRevision); o.ABRevision != "" && b.revision != want {
		s.warnings = append(s.warnings, fmt.Sprintf(
			"the base is %s, and the pull request is merged into %s, so what else differs counts as its change: check out that one in %s",
			text.OneLine(b.revision), text.OneLine(want), text.OneLine(o.AB)))
	}
	b.state = b.revision + " " + opened.changed(ctx) + " " + opened.Plan.File.Digest + laid.Digest()
	if err = b.match(s); err == nil {
		err = b.build(ctx, s.Plan)
	}
	if err == nil {
		err = b.watch(s, from)
	}
	if err != nil {
		opened.Close()
		return nil, err
	}
	return b, nil
}

// mergedInto is the first parent of the checked out commit, where that is the merge of
// the pull request's head; "" where it is not, or git cannot show it. A shallow checkout
// tells.
func (s *Session) mergedInto(ctx context.Context) string {
	response, err := s.worker.Do(ctx,
		worker.Request{Args: []string{"git", "cat-file", "-p", "HEAD"}, Dir: s.Plan.File.Dir, Timeout: 10 * time.Second})
	if err != nil || !response.OK() {
		return ""
	}
	header, _, _ := strings.Cut(string(response.Stdout), "\n\n")
	var parents []string
	for line := range strings.Lines(header) {
		if parent, ok := strings.CutPrefix(line, "parent "); ok {
			parents = append(parents, strings.TrimSpace(parent))
		}
	}
	if len(parents) != 2 || parents[1] != s.Plan.Options.Revision {
		return ""
	}
	return parents[0]
}

// sessionOfBase opens the base by its own configuration: what it says of a cell is a
// part of the base's identity. A base without one has that of the head.
func (s *Session) sessionOfBase(ctx context.Context, from *checkout) (*Session, error) {
	o := *s.Plan.Options
	o.DemonstrationOptions, o.Revision, o.Out = DemonstrationOptions{}, "", ""
	// Which cells are measured is the head's to say: a shard of another matrix, and a
	// name that the base does not have, would leave cells without pairs.
	o.SelectOptions = SelectOptions{MaxCells: math.MaxInt}
	o.HostLabel = s.Plan.Host.Label // it is one machine
	own, dir := s.baseConfig(from)
	if own != "" {
		o.Config, o.pipedConfig = own, nil
	}
	c, err := s.Configure(&o)
	if err == nil && own == "" {
		c, err = c.In(dir)
	}
	if err != nil {
		return nil, err
	}
	c.isBase, c.headDir, c.baseLogs, c.gpus = true, s.Plan.File.Dir, s.Plan.OutPath(filepath.Join(logs, "base")), s.Plan.gpus
	for i := range s.Plan.File.Suites {
		if name := s.Plan.File.Suites[i].Name; s.suites[name] == nil {
			c.notListed = append(c.notListed, name)
		}
	}
	return s.OpenHere(ctx, &c)
}

// baseConfig returns the base's own configuration, or where it has none its folder.
func (s *Session) baseConfig(from *checkout) (own, dir string) {
	o := s.Plan.Options
	switch {
	case from != nil:
		return from.config(o.Config), from.dir
	case filepath.IsAbs(o.Config):
		return "", o.AB
	}
	own = filepath.Join(o.AB, o.Config)
	if _, err := os.Stat(own); err != nil {
		return "", filepath.Dir(own)
	}
	return own, ""
}

// discard closes the base and removes the checkout that accelgate made of it, or gives the
// user's own checkout its files back.
func (b *base) discard(ctx context.Context) error {
	b.session.Close()
	err := b.guard.release()
	if b.checkout == nil {
		return errors.Join(err, b.laid.Undo())
	}
	return errors.Join(err, b.checkout.remove(context.WithoutCancel(ctx)))
}

// digest is what the base runs for a cell; "" where it has no such cell.
func (b *base) digest(c bench.Cell) (string, error) {
	of, ok := b.cells[c.ID()]
	if !ok {
		return "", nil
	}
	command, err := b.session.suites[of.cell.Suite].Digest(of.cell)
	return b.state + " " + command, err
}

// has reports whether the base has a cell to measure alternately.
func (b *base) has(id string) bool {
	_, ok := b.cells[id]
	return ok
}

// describe adds to a run its base and what a reader needs to repeat the order of the pairs.
func (b *base) describe(run *bench.Run) {
	run.Base = cmp.Or(b.revision, "unknown")
	all := map[string]string{bench.PairSeed: strconv.FormatUint(b.seed, 10)}
	if b.pairs > detect.DefaultStages().Looks[0].Pairs {
		all[bench.FirstPairs] = strconv.Itoa(b.pairs)
	}
	if b.laid != nil && len(b.laid.Names) > 0 {
		all[bench.FromHead] = listed(b.laid.Names)
	}
	maps.Copy(all, run.Context)
	run.Context = all
}

// paired makes each measurement of a cell that the base has one of both, alternately.
func (s *measuring) paired() runner.Measurer {
	head := measurerOf(s.Session)
	if !s.inPairs() {
		return head
	}
	return &interleaved{base: s.base, head: head, old: measurerOf(s.base.session), plan: s.Plan}
}

// baseFirst flips a coin for the first of two pairs; the second has the other
// order.
func (b *base) baseFirst(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if before, due := b.flipped[id]; due {
		delete(b.flipped, id)
		return !before
	}
	coin := b.coins[id]
	if coin == nil {
		of := fnv.New64a()
		of.Write([]byte(id))
		coin = rand.New(rand.NewPCG(b.seed, of.Sum64()))
		b.coins[id] = coin
	}
	first := coin.IntN(2) == 0
	b.flipped[id] = first
	return first
}

// interleaved measures base and head alternately, each in a process of its own. The
// order is AB BA or BA AB, by a coin for every two pairs, so that neither drift
// nor what the first process leaves behind counts for one side.
type interleaved struct {
	base      *base
	head, old *bySuite
	plan      *Plan // of the head, whose limits count for both
}

// Measure implements [runner.Measurer].
func (m *interleaved) Measure(ctx context.Context, c bench.Cell, d bench.Device) (bench.Result, error) {
	if !m.base.has(c.ID()) {
		return m.head.Measure(ctx, c, d)
	}
	var sides [2]bench.Result // head, base
	order := []int{0, 1}
	if m.base.baseFirst(c.ID()) {
		order = []int{1, 0}
	}
	for _, side := range order {
		var err error
		if sides[side], err = m.side(ctx, side, c, d); err != nil {
			return bench.Result{}, err
		}
		m.plan.promote(c, &sides[side])
		if side == 0 && sides[0].Outcome != bench.Passed {
			return sides[0], nil // there is nothing to compare
		}
	}
	join(&sides[0], &sides[1])
	if metric := m.base.lost(&sides[0], &sides[1]); metric != "" {
		sides[0].Outcome, sides[0].Cause = bench.Failed, bench.CauseOutput
		sides[0].Reason = fmt.Sprintf("the base printed %s and this did not", metric)
	}
	return sides[0], nil
}

// side measures one of the two and ends what it keeps running.
func (m *interleaved) side(ctx context.Context, side int, c bench.Cell, d bench.Device) (bench.Result, error) {
	of, name, heads := m.head, "the head", c
	if side == 1 {
		of, name, c = m.old, "the base", m.base.cells[c.ID()].cell // whose suite may have another name
	}
	ready := of.session.ready(c, d)
	if !ready {
		if err := m.base.guard.before(side == 1); err != nil {
			return bench.Result{}, err
		}
	}
	r, err := of.Measure(ctx, c, d)
	for retry := 0; err == nil && side == 1 && retry < m.plan.retries(heads, r.Cause); retry++ { // the runner sees the head alone
		r, err = of.Measure(ctx, c, d)
	}
	if err == nil && !ready {
		err = of.release(c.Suite, d)
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// join puts what the base did beside what the head did. A base that did not pass
// says nothing.
func join(got, old *bench.Result) {
	got.WallMS += old.WallMS
	if old.Outcome != bench.Passed || old.Caveat != "" {
		got.Warnings = append(slices.Clip(got.Warnings),
			fmt.Sprintf("the base did not pass or is doubtful (%s), so the cell is not judged by pairs: look at the base",
				text.OneLine(old.Reason+old.Caveat)))
		return
	}
	if !sameConditions(got, old) {
		got.Warnings = append(slices.Clip(got.Warnings),
			"the base was measured under other conditions, so the cell is not judged by pairs: change conditions and code apart")
		return
	}
	for _, samples := range [][]bench.Sample{got.Samples, got.Resources} {
		for i := range samples {
			s := &samples[i]
			if of := old.Used(s.Metric); of != nil && len(of.Values) == len(s.Values) {
				s.Base = slices.Clone(of.Values)
			}
		}
	}
}

// measurerOf measures each cell by its suite.
func measurerOf(s *Session) *bySuite { return &bySuite{session: s, last: map[bench.Device]string{}} }
