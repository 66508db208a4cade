package gate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// with returns the fingerprint of a machine with these accelerators.
func with(cpu string, models ...string) bench.Fingerprint {
	f := bench.Fingerprint{CPU: cpu, Cores: 2}
	for _, m := range models {
		f.Accelerators = append(f.Accelerators, bench.Accelerator{Vendor: "nvidia", Model: m})
	}
	return f
}

// own returns the fingerprint of a machine and its device that both have a name.
func own(machine, device string) bench.Fingerprint {
	f := with("c", "H100")
	f.Machine, f.Accelerators[0].ID = machine, device
	return f
}

// TestFingerprintPolicy judges a regression and a wrong answer by a baseline of
// another host, for each policy.
func TestFingerprintPolicy(t *testing.T) {
	const (
		refused = "other_host blocks 0, a decode_tps untracked 0, b incorrect blocks -100"
		warned  = "other_host rule 0, a decode_tps untracked 0, b incorrect blocks -100"
		silent  = "a decode_tps untracked 0, b incorrect blocks -100"
		ignored = "other_host rule 0, a decode_tps regressed blocks -90, b incorrect blocks -100"
		judged  = "a decode_tps regressed blocks -90, b incorrect blocks -100"
	)
	h100, two := with("c", "H100"), with("c", "H100", "H100")
	for _, tt := range []struct {
		name                             string
		here, there                      bench.Fingerprint
		byDefault, refuse, warn, ignores string
	}{
		{"the same", h100, h100, judged, judged, judged, judged},
		{"another model", h100, with("c", "H200"), refused, refused, warned, ignored},
		{"another count", h100, two, refused, refused, warned, ignored},
		{"the same models in another order", with("c", "A", "B"), with("c", "B", "A"), judged, judged, judged, judged},
		{"another CPU", h100, with("d", "H100"), warned, refused, warned, ignored},
		{"no accelerator here", with("c"), h100, refused, refused, warned, ignored},
		{"no accelerator there", h100, with("c"), warned, refused, warned, ignored},
		{"a model is not known", with("c", ""), h100, warned, refused, warned, ignored},
		{"another device in the same machine", own("m", "b"), own("m", "a"), ignored, ignored, ignored, judged},
		{"the baseline does not state", h100, bench.Fingerprint{}, silent, silent, silent, judged},
	} {
		for policy, want := range map[string]string{"": tt.byDefault, gate.FingerprintRefuse: tt.refuse, "unknown": tt.refuse,
			gate.FingerprintWarn: tt.warn, gate.FingerprintIgnore: tt.ignores} {
			ref, got := run(cell("a", "decode_tps", 100.0), cell("b")), run(cell("a", "decode_tps", 10.0), cell("b!incorrect"))
			ref.Host.Fingerprint, got.Host.Fingerprint = tt.there, tt.here
			p := gate.DefaultPolicy()
			p.Fingerprint = policy
			c := gate.Compare("base", ref, got, p)
			if diff := cmp.Diff(want, strings.Join(lines(c), ", ")); diff != "" {
				t.Errorf("%s, policy %q (-want +got):\n%s", tt.name, policy, diff)
			}
			if unjudged := strings.Contains(want, "untracked"); unjudged != (c.Unjudged != "") {
				t.Errorf("%s, policy %q: Unjudged = %q", tt.name, policy, c.Unjudged)
			}
		}
	}
}

// TestMismatchDecides: a refused machine fails a run in which nothing else is
// wrong, and any other mismatch leaves it to require_baseline.
func TestMismatchDecides(t *testing.T) {
	ref, got := run(cell("a", "decode_tps", 100.0)), run(cell("a", "decode_tps", 100.0))
	ref.Host.Fingerprint, got.Host.Fingerprint = with("c", "H100"), with("c", "H200")
	for policy, want := range map[string]gate.Status{"": gate.StatusFailed, "warn": gate.StatusWarned, "ignore": gate.StatusWarned} {
		p := gate.Policy{Threshold: 10, Fingerprint: policy}
		if d := gate.Decide([]gate.Comparison{gate.Compare("base", ref, got, p)}, p); d.Status != want || d.Counts[gate.OtherHost] != 1 {
			t.Errorf("policy %q: %+v, want %s with one mismatch", policy, d, want)
		}
	}
	p := gate.Policy{Threshold: 10, Fingerprint: "warn", RequireBaseline: true}
	if d := gate.Decide([]gate.Comparison{gate.Compare("base", ref, got, p)}, p); d.Status != gate.StatusActionRequired {
		t.Errorf("warn, baseline required: %+v, want %s", d, gate.StatusActionRequired)
	}
}

// TestAnotherMachineOfTheSameKind is about two hosts that share a derived label:
// speeds are judged, and the warning names a label for this one.
func TestAnotherMachineOfTheSameKind(t *testing.T) {
	judge := func(here, there, policy string) gate.Comparison {
		ref, got := run(cell("a", "decode_tps", 100.0)), run(cell("a", "decode_tps", 10.0))
		ref.Host.Machine, got.Host.Machine = bench.Identify(there), bench.Identify(here)
		got.Host.Label = "linux-cuda"
		p := gate.DefaultPolicy()
		p.Fingerprint = policy
		return gate.Compare("base", ref, got, p)
	}
	const judged = "a decode_tps regressed blocks -90"
	for _, c := range []struct{ here, there, policy, want string }{
		{"x", "y", "", "other_host rule 0, " + judged}, {"x", "x", "", judged}, {"x", "", "", judged},
		{"x", "y", gate.FingerprintIgnore, judged},
	} {
		got := judge(c.here, c.there, c.policy)
		if diff := cmp.Diff(c.want, strings.Join(lines(got), ", ")); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c, diff)
		}
	}
	label := "--host-label linux-cuda-" + bench.Identify("x")[:4]
	if v := judge("x", "y", "").Verdicts[0]; !strings.Contains(v.Reason, label) {
		t.Errorf("%q does not name %q", v.Reason, label)
	}
}
