package gate

import (
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// machines decides whether speeds of the run may be judged by the reference's.
// A reference that does not say where it was measured is no mismatch.
func (c *comparer) machines() {
	if c.ref == nil {
		return
	}
	here, there := c.run.Host.Fingerprint, c.ref.Host.Fingerprint
	same, why := here.Comparable(there)
	rule := c.policy.fingerprint(here, there)
	switch {
	case same && here.Elsewhere(there) && rule != FingerprintIgnore && c.policy.Compat == "":
		c.add(Verdict{Class: Mismatch, Level: Warn, Reason: "the baseline was measured on another machine of this kind: " +
			"give each machine a label of its own, here with --host-label " + c.run.Host.Own() +
			", or set policy.fingerprint: ignore to let them share one"})
	case same:
	case c.ref.Host.Unknown():
		if rule != FingerprintIgnore && c.policy.Compat != CompatTensorSharp {
			c.out.Unjudged = why
		}
	case rule == FingerprintIgnore:
		c.add(Verdict{Class: Mismatch, Level: Warn, Reason: why +
			"; speeds are judged all the same because policy.fingerprint is ignore: remove it to have them told apart"})
	case rule == FingerprintWarn:
		c.out.Unjudged = why
		c.add(Verdict{Class: Mismatch, Level: Warn, Reason: why +
			": record this machine with baseline update, or give it a label of its own with --host-label"})
	default:
		c.out.Unjudged = why
		c.add(Verdict{Class: Mismatch, Level: Fail, Reason: why +
			": give this machine a label of its own with --host-label, or set policy.fingerprint: ignore to judge by it all the same"})
	}
}

// fingerprint is what to do about two machines that differ.
func (p Policy) fingerprint(here, there bench.Fingerprint) string {
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
