package health

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device/watch"
	"github.com/accelgate/accelgate/internal/worker"
)

// vendor runs the tools of one vendor.
type vendor struct {
	// ask looks once at devices and returns their states by name. What it could
	// not learn is left out, and trouble says why, with a next step.
	ask func(ctx context.Context, t tools, devices []bench.Device) (states map[string]state, trouble string)
	// sample looks at devices until ctx is done and returns all it saw, by name.
	// Nil means to ask every pollPeriod.
	sample func(ctx context.Context, t tools, first map[string]state) map[string][]state
}

// vendors are those whose devices can be looked at.
var vendors = map[string]vendor{
	"nvidia": {ask: askNVIDIA, sample: sampleNVIDIA},
	"amd":    {ask: askAMD},
	"ascend": {ask: askAscend},
	"apple":  {ask: askApple, sample: sampleApple},
}

// patrol looks at the devices of one vendor during a span.
type patrol struct {
	vendor
	tools   tools
	devices []bench.Device
	first   map[string]state
	trouble string
	samples <-chan map[string][]state
	kernel  kernelLog
}

// patrols groups devices by vendor and looks at them for the first time.
// Processors are no devices here.
func (w *Watcher) patrols(ctx context.Context, devices []bench.Device) (all []*patrol) {
	byVendor := map[string][]bench.Device{}
	for _, d := range devices {
		if d.Vendor != "cpu" {
			byVendor[d.Vendor] = append(byVendor[d.Vendor], d)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byVendor)) {
		p := &patrol{vendor: vendors[name], tools: tools{w.opts.Worker, w.opts.Watch, w.opts.Now, w.opts.GOOS}, devices: byVendor[name]}
		switch p.first = w.recent(p.devices); {
		case p.ask == nil:
			p.trouble = "this build cannot look at devices of " + name + ": check with the vendor's tool that they are healthy"
		case w.opts.Worker == nil:
			p.trouble = "no tool was asked: check with the vendor's that they are healthy"
		case p.first == nil:
			p.first, p.trouble = w.ask(ctx, name, p)
		}
		if name == "nvidia" && w.opts.GOOS == "linux" {
			p.kernel = openKernelLog(w.opts.Root)
		}
		all = append(all, p)
	}
	return all
}

// ask looks for the first time in a span, unless the vendor's tools did not answer
// in time before: that would cost every cell a quarter of a minute.
func (w *Watcher) ask(ctx context.Context, vendor string, p *patrol) (map[string]state, string) {
	w.mu.Lock()
	trouble, hung := w.hung[vendor]
	w.mu.Unlock()
	if hung {
		return nil, trouble
	}
	begin := w.opts.Now()
	states, trouble := p.look(ctx, w)
	if len(states) == 0 && w.opts.Now().Sub(begin) >= toolTimeout {
		w.mu.Lock()
		w.hung[vendor] = trouble + "; it was not asked again"
		w.mu.Unlock()
	}
	return states, trouble
}

// recent returns what was just seen of devices, at the end of the span before;
// nil unless that is all of them.
func (w *Watcher) recent(devices []bench.Device) map[string]state {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := map[string]state{}
	for _, d := range devices {
		s, ok := w.last[d.String()]
		if !ok || w.opts.Now().Sub(s.at) > fresh {
			return nil
		}
		found[d.String()] = s
	}
	return found
}

func (w *Watcher) remember(states map[string]state) {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.Copy(w.last, states)
}

// start starts sampling. Devices that cannot be looked at once are not sampled.
func (p *patrol) start(ctx context.Context) {
	if len(p.first) == 0 {
		return
	}
	samples := make(chan map[string][]state, 1)
	p.samples = samples
	go func() { // ends with ctx
		if p.sample != nil {
			samples <- p.sample(ctx, p.tools, p.first)
		} else {
			samples <- p.poll(ctx)
		}
	}()
}

// pollPeriod is long, because the tools that are asked again and again take
// tenths of a second of a processor.
const pollPeriod = 10 * time.Second

func (p *patrol) poll(ctx context.Context) map[string][]state {
	seen := map[string][]state{}
	ticker := time.NewTicker(pollPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return seen
		case <-ticker.C:
		}
		states, _ := p.ask(ctx, p.tools, p.devices)
		for name, s := range states {
			seen[name] = append(seen[name], s)
		}
	}
}

// end looks for the last time and judges. The span's own context must be done.
func (p *patrol) end(ctx context.Context, s *Span) (f finding) {
	samples, last := map[string][]state{}, map[string]state{}
	if p.samples != nil {
		samples = <-p.samples
		last, p.trouble = p.look(ctx, s.w)
		s.w.remember(last)
	}
	broken := parseXIDs(p.kernel.rest())
	for _, d := range p.devices {
		name := d.String()
		first, begun := p.first[name]
		end, ended := last[name]
		if !begun || !ended {
			f.unknown = append(f.unknown, fmt.Sprintf("%s cannot be looked at (%s)", name, p.trouble))
			for _, fault := range broken[first.bus] { // a device that is lost tells nothing more
				f.unwell = append(f.unwell, fmt.Sprintf("%s is lost (%s): fix it before you measure", name, fault))
			}
			continue
		}
		end.faults = append(slices.Clip(end.faults), broken[first.bus]...)
		w := watched{device: d, first: first, last: end, samples: samples[name], outside: s.outside}
		f.join(w.judge())
	}
	return f
}

// look asks once, and finds out at once whose the processes are: later they may be
// gone. In a container with process numbers of its own a tool does not see those
// outside.
func (p *patrol) look(ctx context.Context, w *Watcher) (map[string]state, string) {
	states, trouble := p.ask(ctx, p.tools, p.devices)
	for name, s := range states {
		for i := range s.users {
			s.users[i].kin = w.kinOf(s.users[i].pid)
		}
		if w.opts.GOOS == "linux" && !w.system.seesAll() {
			s.listed = false
		}
		states[name] = s
	}
	return states, trouble
}

func (w *Watcher) kinOf(pid int) kin {
	if w.opts.GOOS != "linux" {
		return unclear
	}
	return w.system.kinOf(pid)
}

// tools runs the programs of vendors.
type tools struct {
	worker worker.Worker
	watch  *watch.Host
	now    func() time.Time
	goos   string
}
