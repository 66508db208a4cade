package models

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/worker"
)

// workers are what runs the suite's cells: one for all devices, or one for
// each where it keeps a process or hands a device to a container.
type workers struct {
	suite *Suite
	mu    sync.Mutex
	own   map[bench.Device]worker.Worker
}

// of returns the worker of a device.
func (w *workers) of(d bench.Device) (worker.Worker, error) {
	config := &w.suite.body.Worker
	if config.Persistent == nil && config.Container == nil {
		return w.suite.env.Worker, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if known, ok := w.own[d]; ok {
		return known, nil
	}
	made, err := w.make(d)
	if err != nil {
		return nil, err
	}
	if w.own == nil {
		w.own = map[bench.Device]worker.Worker{}
	}
	w.own[d] = made
	return made, nil
}

// Load names the process that keeps a cell's model: one with the same command
// and environment. Without persistent processes each cell loads its own.
func (s *Suite) Load(c bench.Cell) string {
	if s.body.Worker.Persistent == nil {
		return ""
	}
	f, _, err := s.fill(s.processOf(c), s.placeholderOutput())
	if err != nil {
		return "" // measuring it tells
	}
	return fmt.Sprintf("%q %q", f.args, f.env)
}

func (w *workers) make(d bench.Device) (worker.Worker, error) {
	if p := w.suite.body.Worker.Persistent; p != nil {
		return &worker.Persistent{Environ: w.suite.env.Environ, StartTimeout: p.StartTimeout}, nil
	}
	made := w.suite.body.Worker.Container.worker(w.suite.resolve)
	made.Environ = w.suite.env.Environ
	if err := pin(made, d, w.suite.env.Pin); err != nil {
		return nil, err
	}
	return made, nil
}

// worker makes a worker of the configuration. Paths of the host are relative
// to the configuration's folder.
func (c *container) worker(resolve func(string) string) *worker.Container {
	w := &worker.Container{Image: c.Image, Pull: c.Pull, GPUs: c.GPUs, Devices: c.Devices, Inherit: c.Inherit, User: c.User,
		Network: c.Network, Memory: c.MemoryMiB << 20, ShmSize: c.ShmMiB << 20, Socket: c.Socket, SamePaths: c.SamePaths}
	if c.Root != "" {
		w.Root = resolve(c.Root)
	}
	for _, m := range c.Mounts {
		if host, rest, ok := strings.Cut(m, ":"); ok && host != "" {
			m = resolve(host) + ":" + rest
		}
		w.Mounts = append(w.Mounts, m)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		w.Env = append(w.Env, name+"="+c.Env[name])
	}
	return w
}

// pin gives the container one device. NVIDIA's are handed over by the engine,
// and then are the only one inside; others are all there and chosen by the
// vendor's variable.
func pin(c *worker.Container, d bench.Device, variables func(bench.Device) []string) error {
	if variables == nil {
		return nil
	}
	chosen := variables(d)
	devices := slices.DeleteFunc(slices.Clone(chosen), chosenCPUs)
	switch {
	case d.Vendor == "nvidia":
		c.GPUs = "device=" + d.ID
		chosen = slices.DeleteFunc(slices.Clone(chosen), func(v string) bool { return !chosenCPUs(v) })
	case len(devices) == 0 && d.Vendor != "cpu" && d != bench.Device{}:
		return fmt.Errorf("a container cannot be pinned to %s: remove devices, or worker.container", d)
	}
	c.Env = append(c.Env, chosen...)
	return nil
}

// chosenCPUs reports whether a variable chooses processors or their memory, not devices.
func chosenCPUs(variable string) bool {
	return strings.HasPrefix(variable, worker.CPUs+"=") || strings.HasPrefix(variable, worker.Nodes+"=")
}

// rest ends the process of a device; a container's worker keeps none.
func (w *workers) rest(d bench.Device) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	own, ok := w.own[d]
	if _, keeps := own.(*worker.Persistent); !ok || !keeps {
		return nil
	}
	delete(w.own, d)
	return own.Close()
}

func (w *workers) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, own := range w.own {
		errs = append(errs, own.Close())
	}
	w.own = nil
	return errors.Join(errs...)
}

// Outside implements [suite.External]: containers are children of their engine.
func (s *Suite) Outside() bool { return s.body.Worker.Container != nil }
