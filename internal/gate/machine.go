package gate

import (
	"cmp"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// machines decides whether speeds of the run may be judged by the reference's:
// unjudged says why not. A reference that does not say where it was measured is no mismatch.
func machines(ref, run *bench.Run, p *Policy) (unjudged string, differ []Verdict) {
	if ref == nil {
		return "there is no baseline for this host", nil
	}
	here, there := run.Host.Fingerprint, ref.Host.Fingerprint
	same, why := here.Comparable(there)
	rule := p.fingerprint(here, there)
	distinguish := rule != FingerprintIgnore && p.Compat.Rules().Hosts
	other := func(source, reason string) []Verdict {
		return []Verdict{excusedBy(source, Verdict{Finding: OtherHost, Reason: reason})}
	}
	switch {
	case p.Shared && (same && here.Elsewhere(there) || !same && sameDevices(here, there)) && p.Fingerprint == "":
		return "", other("baselines.devices", shares(why))
	case same && here.Elsewhere(there) && distinguish:
		return "", other("policy.fingerprint: absent", "the baseline was measured on another host of this kind: "+
			"give each host a label of its own, here with --host-label "+run.Host.Own()+
			", or set policy.fingerprint: ignore to let them share one")
	case same && here.Replaced(there) && distinguish:
		return "", other("policy.fingerprint: absent", "the accelerators are others than those of the baseline, of the same model: "+
			"record this host again with baseline update if a report on unchanged code differs")
	case same, ref.Host.Unknown() && (rule == FingerprintIgnore || p.Compat.Rules().AnyHost):
		return "", nil
	case ref.Host.Unknown():
		return why, nil
	case rule == FingerprintIgnore:
		return "", other("policy.fingerprint: ignore", why+
			"; speeds are judged all the same because policy.fingerprint is ignore: remove it to have them told apart")
	case rule == FingerprintWarn:
		return why, other(p.warnsOfHosts(), why+
			": record this host with baseline update, or give it a label of its own with --host-label")
	}
	return why, other("", why+
		": give this host a label of its own with --host-label, or set policy.fingerprint: ignore to judge by it all the same")
}

// warnsOfHosts is the rule by which another host does not block.
func (p *Policy) warnsOfHosts() string {
	if p.Fingerprint == FingerprintWarn {
		return "policy.fingerprint: warn"
	}
	return "policy.fingerprint: absent"
}

// excusedBy excuses a verdict by a rule; "" is none.
func excusedBy(source string, v Verdict) Verdict {
	if source != "" {
		v.Excuse = &Excuse{Kind: RuleExcuse, Source: source}
	}
	return v
}

// sameDevices reports whether both have the same accelerators, and some.
func sameDevices(here, there bench.Fingerprint) bool {
	now := accelerators(here)
	return now != nil && slices.Equal(now, accelerators(there))
}

// shares warns of a baseline that another host with the device was measured for.
func shares(why string) string {
	why = cmp.Or(why, "the baseline was measured on another host with this device")
	return why +
		"; speeds are judged all the same, because baselines.devices lets the hosts share it: " +
		"give this host a file of its own there if a report on unchanged code differs"
}

// fingerprint is what to do about two machines that differ.
func (p *Policy) fingerprint(here, there bench.Fingerprint) string {
	if p.Fingerprint != "" {
		return p.Fingerprint
	}
	if len(here.Accelerators) == 0 && len(there.Accelerators) > 0 {
		return FingerprintRefuse // they fell out, or this is another machine
	}
	now, before := accelerators(here), accelerators(there)
	if now == nil || before == nil || slices.Equal(now, before) {
		return FingerprintWarn
	}
	return FingerprintRefuse
}

// accelerators returns the models, sorted; nil if there are none or if one is
// not known.
func accelerators(f bench.Fingerprint) []string {
	var models []string
	for _, a := range f.Accelerators {
		if a.Model == "" {
			return nil
		}
		models = append(models, a.Model)
	}
	slices.Sort(models)
	return models
}
