package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/reference/worktree"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// What --ab may be besides a folder and a commit.
const (
	abAuto = "auto"
	abOff  = "off"
	abHead = "HEAD"
)

// openBase opens the base that --ab names, or that a run on a desk finds by itself;
// nil without one. It must be discarded.
func (s *Session) openBase(ctx context.Context) (*base, error) {
	o := s.Plan.Options
	if why := s.Plan.built.unpaired; why != "" {
		s.unpaired = append(s.unpaired, why)
	}
	policy := &s.Plan.Policy
	desk := o.Desk && o.AB == "" && o.Repeats == 0 && !s.inCI() && policy.Compat.Rules().Statistics && policy.Method != gate.MethodThreshold
	switch {
	case o.AB == abOff || o.AB == "" && o.Pairs == 0 && !desk:
		if o.Pairs > 0 {
			return nil, exit.Usagef("--pairs needs a base, and --ab is off: leave one of the two out")
		}
		return nil, nil
	case !policy.Compat.Rules().Statistics:
		return nil, exit.Usagef("--ab: policy.compat %s does not judge pairs: leave one of the two out", policy.Compat)
	case o.AB == "" && o.Pairs == 0:
		return s.tryBase(ctx)
	case o.AB == "" && !o.Desk:
		return nil, exit.Usagef("--pairs is about pairs with a base: add --ab FOLDER, a checkout of the base, or leave --pairs out")
	case o.AB == "" || o.AB == abAuto:
		b, err := s.baseOf(ctx, "", false)
		return b, asUsage("--ab auto", err, "add --ab FOLDER with a checkout of the base, or leave pairs out with --ab off")
	}
	if info, err := os.Stat(o.AB); err == nil && info.IsDir() {
		b, err := s.openFolder(ctx)
		if why, none := errors.AsType[noBase](err); none && s.inCI() { // a change that mends the base can pass
			s.unpaired = append(s.unpaired, "no suite was measured in pairs, because "+why.why)
			return nil, nil
		}
		return b, asUsage("--ab", err, "name another base, or measure without pairs with --ab off")
	}
	b, err := s.baseOf(ctx, o.AB, false)
	return b, asUsage("--ab", err, "give the folder of a checkout of the base, or a commit of this repository")
}

// NextBase is what --ab is to be in a command that is printed, for a configuration
// in dir. found is what measuring found, "" if nothing was measured.
func (o *Options) NextBase(dir, found string) string {
	switch {
	case o.AB != "" && o.AB != abOff:
		return o.AB
	case found == "" && inRepository(dir):
		return abAuto
	}
	return cmp.Or(found, unknownBase)
}

func inRepository(dir string) bool {
	dir, err := filepath.Abs(dir)
	for err == nil {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
	return false
}

// unknownBase stands for a checkout that only the user can make.
const unknownBase = "BASE-CHECKOUT"

// since makes the baseline's commit the next base where nothing differs from HEAD:
// that is what a loss against the baseline is a loss since.
func (s *Session) since(ctx context.Context, ref *bench.Run) {
	if s.NextBase != abHead || ref == nil || ref.Revision == "" {
		return
	}
	response, err := s.worker.Do(ctx,
		worker.Request{Args: []string{"git", "rev-parse", "--verify", "--quiet", "--end-of-options", ref.Revision + "^{commit}"},
			Dir: s.Plan.File.Dir, Unset: worktree.Variables, Timeout: 10 * time.Second})
	if err == nil && response.OK() {
		s.NextBase = ShortRevision(strings.TrimSpace(string(response.Stdout)))
	}
}

// inCI reports whether this is a job of a CI system, where only what is written
// down decides how it is measured.
func (e *Env) inCI() bool {
	ci := e.Getenv("CI")
	return ci != "" && ci != "false" && ci != "0" || e.Getenv("GITHUB_ACTIONS") == "true"
}

// noBase says why there is no base to pair with.
type noBase struct{ why string }

func (e noBase) Error() string { return e.why }

// nothingToPair is a [noBase] that takes no evidence from the run, such as a checkout that
// equals its base.
type nothingToPair struct{ noBase }

// Unwrap makes it a [noBase].
func (e nothingToPair) Unwrap() error { return e.noBase }

func asUsage(flag string, err error, next string) error {
	if why, ok := errors.AsType[noBase](err); ok {
		return exit.Usagef("%s: %s: %s", flag, why.why, next)
	}
	return err
}

// tryBase opens the merge base where it can be paired with, and says in one line
// what it does.
func (s *Session) tryBase(ctx context.Context) (*base, error) {
	b, err := s.baseOf(ctx, "", true)
	switch {
	case err == nil:
		s.NextBase = abAuto
		fmt.Fprintf(s.Stderr, "accelgate: measuring in pairs with %s (--ab off measures without)\n", b.checkout)
		return b, nil
	case ctx.Err() != nil:
		return nil, err
	}
	if _, ok := errors.AsType[unbuilt](err); ok {
		return nil, fmt.Errorf("%w; correct it, or measure what is built already with --ab off", err)
	}
	s.NextBase = cmp.Or(s.NextBase, unknownBase)
	fmt.Fprintf(s.Stderr, "accelgate: measuring without pairs: %s\n", text.OneLine(err.Error()))
	if _, ok := errors.AsType[nothingToPair](err); !ok {
		s.unpaired = append(s.unpaired, "no suite was measured in pairs, because "+text.OneLine(err.Error()))
	}
	return nil, nil
}

// probe measures one cell of each suite in a base that was not asked for, and takes
// the suites out of the pairs that do not pass there. Where none is left it discards
// the base and returns nil.
func (s *Session) probe(ctx context.Context, b *base, lanes Lanes) (*base, error) {
	if b == nil || !b.tried {
		return b, nil
	}
	for _, one := range s.Plan.Suites {
		why, err := b.runs(ctx, &one, lanes.For)
		if err != nil {
			return b, err
		}
		if why == "" {
			continue
		}
		for _, cell := range one.Cells {
			delete(b.cells, cell.ID())
		}
		s.NextBase = unknownBase
		warning := fmt.Sprintf("suite %s is not measured in pairs, because it does not run in %s: %s", one.Name, b.checkout,
			text.OneLine(why))
		s.warnings = append(s.warnings, warning)
		s.unpaired = append(s.unpaired, fmt.Sprintf("suite %s was not measured in pairs, because it does not run in %s",
			text.OneLine(one.Name), b.checkout))
		s.WarnAll([]string{warning})
	}
	if len(b.cells) == 0 {
		return nil, b.discard(ctx)
	}
	return b, nil
}

// maxProbes is how many cells of a suite may fail in the base before all do.
const maxProbes = 2

// runs returns why no cell of a suite runs in the base; "" if one does, or none is to
// be paired.
func (b *base) runs(ctx context.Context, one *Planned, on func(bench.Cell) bench.Device) (why string, err error) {
	probed, measurer := 0, measurerOf(b.session)
	for _, cell := range one.Cells {
		of, ok := b.cells[cell.ID()]
		if !ok || probed == maxProbes {
			continue
		}
		probed++
		device := on(cell)
		r, err := measurer.Measure(ctx, of.cell, device)
		if err == nil {
			err = b.session.Release(of.cell.Suite, device)
		}
		switch {
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case err != nil:
			return err.Error(), nil
		case r.Outcome == bench.Passed:
			return "", nil
		}
		why = r.Reason
	}
	return why, nil
}
