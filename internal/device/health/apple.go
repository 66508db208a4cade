package health

import (
	"context"
	"errors"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// askApple asks powermetrics, which only root may run, for a fifth of a second.
// Without it, system_profiler tells the GPU and nothing of its state.
func askApple(ctx context.Context, t tools, devices []bench.Device) (map[string]state, string) {
	out, _ := t.run(ctx, "powermetrics", "--samplers", "gpu_power,thermal", "-i", "200", "-n", "1")
	var s state
	samples := parsePowermetrics(out)
	if len(samples) > 0 {
		s = samples[len(samples)-1]
	} else {
		out, trouble := t.run(ctx, "system_profiler", "SPDisplaysDataType", "-json")
		if trouble != "" {
			return nil, trouble
		}
		var err error
		if s, err = parseProfiler(out); err != nil {
			return nil, unread("system_profiler", err)
		}
		s.untold = append(s.untold, heldBack+", as accelgate may not run powermetrics: only root may")
	}
	s.at = t.now()
	states := map[string]state{}
	for _, d := range devices {
		states[d.String()] = s
	}
	return states, ""
}

// sampleApple lets powermetrics run until ctx is done.
func sampleApple(ctx context.Context, t tools, first map[string]state) map[string][]state {
	resp, _ := t.worker.Do(ctx,
		worker.Request{Args: []string{"powermetrics", "--samplers", "gpu_power,thermal", "-i", "1000"}}) // as of sampleNVIDIA
	all := map[string][]state{}
	for name := range first {
		all[name] = parsePowermetrics(resp.Stdout)
	}
	return all
}

// parsePowermetrics reads samples of the samplers gpu_power and thermal, each of
// which begins with "*** Sampled system activity". Its levels of pressure are
// Nominal, Moderate, Heavy, Trapping and Sleeping; at all but the first macOS
// holds the clocks back. A sample without a level is left out: it may be cut.
func parsePowermetrics(out []byte) (samples []state) {
	_, rest, _ := strings.Cut(string(out), "*** Sampled system activity")
	for block := range strings.SplitSeq(rest, "*** Sampled system activity") {
		if len(samples) == maxSamples {
			break
		}
		if s, ok := blockOf(block); ok {
			samples = append(samples, s)
		}
	}
	return samples
}

func blockOf(block string) (s state, ok bool) {
	for line := range strings.Lines(block) {
		name, value, found := strings.Cut(strings.TrimSpace(line), ":")
		if !found || !strings.HasSuffix(line, "\n") {
			continue
		}
		value = strings.TrimSpace(value)
		v, known := quantity(value)
		switch name {
		case "GPU HW active frequency":
			s.add("gpu clock", "MHz", v, known)
			s.clock = v
		case "GPU HW active residency":
			s.add("busy", "%", v, known)
			s.busy = v / 100
		case "GPU Power":
			s.add("power", "W", v/1000, known) // told in mW
		case "Current pressure level":
			if ok = value != ""; ok && value != "Nominal" {
				s.slow = append(s.slow, "pressure of heat "+text.Quote(value, 40))
			}
		}
	}
	return s, ok
}

// parseProfiler reads system_profiler SPDisplaysDataType -json.
func parseProfiler(out []byte) (s state, err error) {
	document, err := firstJSON(out)
	if err != nil {
		return s, err
	}
	list, _ := objectOf(document)["spdisplaysdatatype"].([]any)
	for _, entry := range list {
		gpu := objectOf(entry)
		if gpu.text("sppci_device_type") != "spdisplays_gpu" {
			continue
		}
		cores, known := gpu.quantity("sppci_cores")
		s.add("gpu cores", "", cores, known)
		return s, nil
	}
	return s, errors.New("it lists no GPU")
}
