package report

import (
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
)

// limitsIn is what a number may change by, and what bounds it: "3 %, min 0.62, max 8.1".
func limitsIn(v *gate.Verdict) inline {
	var list []string
	e := &v.Evidence
	if e.Test != "" {
		list = append(list, e.Test)
	}
	if ofSpeed(v) && !fromZero(v) && (e.Test == "" || e.Limit > 0) || v.Finding == gate.PartsDiffer {
		list = append(list, bare(e.Limit)+fromNoise(e))
	}
	if e.Min != nil {
		list = append(list, "min "+fmt.Sprint(*e.Min))
	}
	if e.Max != nil {
		list = append(list, "max "+fmt.Sprint(*e.Max))
	}
	if list == nil {
		return none
	}
	return only(plain(strings.Join(list, ", ")))
}

// fromNoise marks a limit that was derived from noise.
func fromNoise(e *gate.Evidence) string {
	if e.Derived == nil {
		return ""
	}
	return " (from noise)"
}

// derivation is how a limit was derived from noise, in a sentence; "" where it was not.
func derivation(e *gate.Evidence) string {
	d, times := e.Derived, ""
	switch {
	case d == nil:
		return ""
	case d.Times != 1:
		times = fmt.Sprintf("%g times ", d.Times)
	}
	switch {
	case d.Noise == 0:
		return fmt.Sprintf("limit %s: the ceiling, because %s of this host are recorded and 12 show how much they differ", bare(e.Limit),
			text.Plural(d.Runs, "earlier run"))
	}
	return fmt.Sprintf("limit %s: %sthe noise of %s from run to run (%s), at least %s and at most %s", bare(e.Limit), times, rough(d.Noise),
		text.Plural(d.Runs, "earlier run"), bare(d.Floor), bare(d.Ceiling))
}
