package endpoint

import (
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
)

func TestObjective(t *testing.T) {
	t.Parallel()
	gpu := func(model string) bench.Host {
		return bench.Host{Fingerprint: bench.Fingerprint{Accelerators: []bench.Accelerator{{Vendor: "nvidia", Model: model}}}}
	}
	for _, c := range []struct {
		name  string
		slo   slo
		host  bench.Host
		class string
		want  string
	}{
		{"no template", slo{}, gpu("NVIDIA H100 80GB HBM3"), "", ""},
		{"H100", slo{Template: "llm.standard"}, gpu("NVIDIA H100 80GB HBM3"), "h100", "ttft<=200ms tpot<=50ms e2e<=3s"},
		{"H200", slo{Template: "llm.relaxed"}, gpu("NVIDIA H200"), "h200", "ttft<=600ms e2e<=6s"},
		{"an L40 is not a L4", slo{Template: "llm.standard"}, gpu("NVIDIA L40S"), "", "ttft<=200ms tpot<=50ms e2e<=3s"},
		{"SXM", slo{Template: "llm.standard"}, gpu("NVIDIA A100-SXM4-80GB"), "a100", "ttft<=300ms tpot<=75ms e2e<=4.5s"},
		{"no accelerator", slo{Template: "llm.standard"}, bench.Host{}, "cpu", "ttft<=4s tpot<=1s e2e<=1m0s"},
		{"declared", slo{Template: "llm.standard", Hardware: "l4"}, gpu("NVIDIA H100"), "l4", "ttft<=500ms tpot<=125ms e2e<=7.5s"},
		{"of one's own", slo{Template: "llm.standard", TTFT: time.Second}, gpu("NVIDIA H100"), "h100", "ttft<=1s tpot<=50ms e2e<=3s"},
	} {
		got, err := c.slo.objective(c.host)
		if err != nil || got.hardware != c.class || got.String() != c.want {
			t.Errorf("%s: %q %q %v, want %q %q", c.name, got.hardware, got, err, c.class, c.want)
		}
	}
}

// TestPlans lays out what the presets say, and the defaults of warm-up.
func TestPlans(t *testing.T) {
	t.Parallel()
	list, err := Presets()
	if err != nil || len(list) != 5 {
		t.Fatalf("%d presets, %v", len(list), err)
	}
	for _, p := range list {
		opened, err := openBody(t, "x.yaml", "preset: "+p.ID+map[bool]string{true: "\ndataset: {path: sharegpt.json, n: 0}"}[p.NeedsFile], env(t))
		if err != nil {
			t.Errorf("%s: %v", p.ID, err)
			continue
		}
		s := opened.(*Suite)
		for _, cell := range s.Plan().Cells {
			of := s.points[cell.ID()]
			if got, want := s.plan(of).Warmup.Requests, max(3, 2*of.concurrency); got != want {
				t.Errorf("%s: %d warm-up requests, want %d", cell.ID(), got, want)
			}
			if _, err := s.Digest(cell); err != nil {
				t.Error(err)
			}
		}
	}
}
