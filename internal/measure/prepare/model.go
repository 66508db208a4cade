package prepare

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
	"github.com/accelgate/accelgate/internal/worker"
)

// models are the models of a stage that were set up, by the device.
type models struct {
	loaded map[bench.Device]loaded
	broken map[setUp]string // why a model cannot be measured on a device
	failed []string         // why teardowns failed, once for each model
	torn   map[string]bool  // models of which that is known
}

// loaded is the model whose cells a device measures.
type loaded struct {
	model   string
	service *worker.Background // that ran when it was set up
}

// setUp names a setup: of a model, for a device.
type setUp struct {
	model  string
	device bench.Device
}

// maxFailed is how many models a run warns of whose teardown failed.
const maxFailed = 20

// ModelAxis is the axis whose values are models.
const ModelAxis = "model"

// modelVariable is what steps of a model get besides the suite's name.
const modelVariable = "ACCELGATE_MODEL"

// load makes the model of a cell ready on a device: another one is released and torn down
// first, and so is one that was set up beside a service which has ended. It returns why the
// setup failed, which is not tried again there.
func (s *Stage) load(ctx context.Context, cell bench.Cell, d bench.Device, run *worker.Background) (why string, err error) {
	if s.Around.PerModel == nil {
		return "", nil
	}
	next := loaded{cell.Get(ModelAxis), run}
	now, some := s.loadedOn(d)
	if some && now == next {
		return s.brokenModel(next.model, d), nil
	}
	if some {
		if err := s.unload(d); err != nil {
			return "", err
		}
	}
	if why := s.brokenModel(next.model, d); why != "" || next.model == "" {
		return why, nil
	}
	s.noteLoaded(d, next)
	why, err = s.perModel(ctx, "setup", next.model, d)
	if why != "" {
		why = fmt.Sprintf("the setup of model %s failed: %s", text.OneLine(next.model), why)
		s.noteBroken(next.model, d, why)
	}
	return why, err
}

// unload ends what the suite keeps running for a device, and tears its model down.
func (s *Stage) unload(d bench.Device) error {
	if s.Unload != nil {
		if err := s.Unload(d); err != nil {
			return err
		}
	}
	return s.tearDownModel(d)
}

// unloadAll unloads each device.
func (s *Stage) unloadAll() (err error) {
	s.mu.Lock()
	var devices []bench.Device
	for d := range s.models.loaded {
		devices = append(devices, d)
	}
	s.mu.Unlock()
	slices.SortFunc(devices, func(a, b bench.Device) int { return cmp.Compare(a.String(), b.String()) })
	for _, d := range devices {
		err = errors.Join(err, s.unload(d))
	}
	return err
}

// tearDownModel runs the teardown of the model that a device measured, if there is one: also
// where its setup failed, and where the run was cancelled.
func (s *Stage) tearDownModel(d bench.Device) error {
	s.mu.Lock()
	now, some := s.models.loaded[d]
	delete(s.models.loaded, d)
	s.mu.Unlock()
	if !some {
		return nil
	}
	why, err := s.perModel(context.Background(), "teardown", now.model, d)
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := &s.models; why != "" && !m.torn[now.model] && len(m.failed) < maxFailed {
		if m.torn == nil {
			m.torn = map[string]bool{}
		}
		m.torn[now.model] = true
		m.failed = append(m.failed, fmt.Sprintf("the teardown of model %s of suite %s failed: %s", text.OneLine(now.model), s.Suite, why))
	}
	return err
}

// perModel runs a step of a model.
func (s *Stage) perModel(ctx context.Context, name, model string, d bench.Device) (why string, err error) {
	log := logName{log: logOf(s.Suite, "model-"+fileName(model)+"-"+name)}
	return s.named(ctx, stepOf(s.Around.PerModel, name), log, s.env(d, modelVariable, model))
}

// plainName matches names that are names of files everywhere, and too short to be cut.
var plainName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// fileName is a model's name as that of a file.
func fileName(model string) string {
	if plainName.MatchString(model) {
		return model
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(model)))[:16]
}

func (s *Stage) loadedOn(d bench.Device) (now loaded, some bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, some = s.models.loaded[d]
	return now, some
}

func (s *Stage) noteLoaded(d bench.Device, now loaded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.models.loaded == nil {
		s.models.loaded, s.models.broken = map[bench.Device]loaded{}, map[setUp]string{}
	}
	s.models.loaded[d] = now
}

func (s *Stage) brokenModel(model string, d bench.Device) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.models.broken[setUp{model, d}]
}

func (s *Stage) noteBroken(model string, d bench.Device, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models.broken[setUp{model, d}] = why
}
