package measure

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/gate/policy"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/suite"
)

// watchdog is how the children of a suite's cells are watched.
type watchdog struct {
	noOutput time.Duration
	dump     bool
	timeouts []timeoutOf // on this host
}

// timeoutOf bounds one process of the cells that it selects.
type timeoutOf struct {
	matrix.When
	bound time.Duration
}

// watch notes how a suite's measurements are watched and repeated, and refuses entries that
// can have no effect.
func (p *Plan) watch(s *config.Suite, cells []bench.Cell) error {
	if !s.Watches() {
		return nil
	}
	if !p.kinds[s.Kind].Watched {
		return s.Errorf("kind", "cells of kind %s have no children to watch: remove no_output, on_timeout and cell_timeouts", s.Kind)
	}
	of := &watchdog{noOutput: s.NoOutput, dump: s.OnTimeout != ""}
	for i := range s.CellTimeouts {
		t := &s.CellTimeouts[i]
		path, one := fmt.Sprintf("cell_timeouts[%d]", i), timeoutOf{matrix.WhenOf(t.When), t.Timeout}
		if err := policy.CheckKeys(s, path, one.Cells, []string{matrix.HostKey}, cells); err != nil {
			return err
		}
		if !one.On(p.Host.Label) {
			continue
		}
		if !slices.ContainsFunc(cells, one.Selects) {
			return s.Errorf(path+".when",
				"matches no cell of the suite: correct it, name the hosts that have such cells by host, or remove the entry")
		}
		of.timeouts = append(of.timeouts, one)
	}
	p.watchdogs[s.Name] = of
	return nil
}

// watching adds to a context how the children of a cell are watched.
func (p *Plan) watching(ctx context.Context, c bench.Cell) context.Context {
	of := p.watchdogs[c.Suite]
	if of == nil {
		return ctx
	}
	a := suite.Watchdog{NoOutput: of.noOutput, Dump: of.dump}
	for _, t := range of.timeouts {
		if t.Selects(c) {
			a.Timeout = t.bound
		}
	}
	return suite.Watching(ctx, a)
}

// retries returns how often a measurement of a cell is repeated after a failure.
func (p *Plan) retries(c bench.Cell, cause bench.Cause) int {
	for i := range p.File.Suites {
		if s := &p.File.Suites[i]; s.Name == c.Suite {
			if n, ok := s.Retries[string(cause)]; ok {
				return n
			}
		}
	}
	if cause.Infrastructure() {
		return p.File.Limits.Retries
	}
	return 0
}
