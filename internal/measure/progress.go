package measure

import (
	"context"
	"fmt"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/measure/progress"
	"github.com/accelgate/accelgate/internal/measure/runner"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/text"
)

// showProgress returns what shows how far the measurement of one cell is.
func (e *Env) showProgress() func(suite.Progress) {
	return func(p suite.Progress) {
		detail := ""
		if !p.Ended {
			detail = progressLine(p)
		}
		e.Progress.Detail(p.Cell, detail)
	}
}

func progressLine(p suite.Progress) string {
	line := fmt.Sprintf("%s, %.1f/s", text.Plural(p.Done, "request"), p.Rate)
	if p.Failed > 0 {
		line += fmt.Sprintf(", %d failed", p.Failed)
	}
	if p.Left > 0 {
		line += fmt.Sprintf(", %v left", p.Left.Round(time.Second))
	}
	return line
}

// shown reports the metrics that progress shows: those that are gated.
func shown(metrics []bench.Metric) func(string) bool {
	gated := map[string]bool{}
	for _, m := range metrics {
		gated[m.Name] = !m.Informational
	}
	return func(name string) bool { return gated[name] }
}

// progress shows each measurement that is finished.
func (s *measuring) progress() func(runner.Event) {
	gated := shown(s.Plan.Metrics)
	return func(e runner.Event) {
		s.Progress.Finished(progress.Measurement{Result: e.Result, Round: e.Round, Rounds: e.Rounds, Skipped: e.Skipped, Reused: e.Reused},
			gated)
	}
}

// stage shows a part of measuring until the function that it returns is called. later is
// what is expected after it.
func (s *measuring) stage(name string, cells []bench.Cell, todo func(bench.Cell) int, later map[string]float64) (end func()) {
	stage := progress.Stage{Name: name, Todo: make(map[string]int, len(cells)), Later: later, Lanes: len(s.lanes.Devices)}
	for _, c := range cells {
		if n := todo(c); n > 0 {
			stage.Todo[c.ID()] = n
		}
	}
	return s.Progress.Stage(stage)
}

// pairsAhead are those that are expected after the first ones, if nothing changed.
func (s *measuring) pairsAhead(cells []bench.Cell) map[string]float64 {
	if !s.inPairs() || s.Plan.Policy.OneLook || s.confirmations() == 0 {
		return nil
	}
	ahead := detect.StagesFrom(s.base.pairs).Ahead() - float64(s.base.pairs)
	later := map[string]float64{}
	for _, c := range cells {
		if s.base.has(c.ID()) && !s.same[c.ID()] {
			later[c.ID()] = ahead
		}
	}
	return later
}

// announced shows which cell is being measured.
type announced struct {
	runner.Measurer
	show *progress.Display
}

// Measure implements [runner.Measurer].
func (a announced) Measure(ctx context.Context, c bench.Cell, d bench.Device) (bench.Result, error) {
	a.show.Started(c.ID())
	return a.Measurer.Measure(ctx, c, d)
}

// expect says how long measurements took in earlier runs: those of --durations, else the
// run that is about to be replaced. Without them, the first round says it.
func (s *Session) expect() {
	if s.Progress == nil {
		return
	}
	files := s.Plan.Options.Durations
	if len(files) == 0 {
		files = []string{s.Plan.OutPath("run.json")}
	}
	if earlier, err := s.Plan.earlierRuns(files); err == nil {
		s.Progress.Expect(earlier.times)
	}
}
