package gate

import (
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/detect"
)

// Loosened lists the keys of the policy that let pass what the default blocks, with
// their values: a report names them, because a policy is changed in one line of a
// configuration and holds for every cell.
func (p *Policy) Loosened() (keys []string) {
	add := func(loose bool, format string, value any) {
		if loose {
			keys = append(keys, fmt.Sprintf(format, value))
		}
	}
	add(p.Threshold > defaultThreshold, "threshold %.4g %%", p.Threshold)
	add(p.MinEffect > max(DefaultMinEffect, p.Threshold), "min_effect %.4g %%", p.MinEffect)
	add(p.Drift > max(DefaultDrift, p.Threshold), "drift %.4g %%", p.Drift)
	add(p.LargestLimit > max(defaultThreshold, p.Threshold), "limits of single metrics up to %.4g %%", p.LargestLimit)
	add(p.FalseAlarms > 0 && p.FalseAlarms < 100*detect.DefaultFalseAlarms, "false_alarms %.4g %%", p.FalseAlarms)
	add(p.Implausible > DefaultImplausible, "implausible %.0f", p.Implausible)
	add(p.Fingerprint == FingerprintWarn || p.Fingerprint == FingerprintIgnore, "fingerprint %s", p.Fingerprint)
	add(p.LeftOut == LeftOutWarn, "left_out %s", p.LeftOut)
	add(p.Unhealthy == UnhealthyIgnore, "unhealthy %s", p.Unhealthy)
	add(p.Method == MethodThreshold, "method %s", p.Method)
	add(len(p.AdvisoryBy) > 0, "advisory by %s", strings.Join(p.AdvisoryBy, ", "))
	return keys
}
