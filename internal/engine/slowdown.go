package engine

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The phases of a run, as [Slowdown] names them.
const (
	phasePrefill = "prefill"
	phaseDecode  = "decode"
)

// Slowdown maps a phase, "prefill" or "decode", to the percentage by which its
// tokens per second are to fall: a share of its work is done again. It exists to show that a gate notices. It is
// the value of a flag: each use adds to it.
type Slowdown map[string]float64

// Set adds phases written as "decode=30%", separated by commas. A percentage
// is at least 0 and below 100, and no phase is named twice.
func (s *Slowdown) Set(list string) error {
	for entry := range strings.SplitSeq(list, ",") {
		phase, value, _ := strings.Cut(entry, "=")
		if phase != phasePrefill && phase != phaseDecode {
			return fmt.Errorf("slowdown %q does not name a phase: write decode=30%% or prefill=30%%", entry)
		}
		percent, err := parsePercent(value)
		if err != nil {
			return fmt.Errorf("slowdown %q: write a percentage from 0%% to below 100%%, as in %s=30%%", entry, phase)
		}
		if _, again := (*s)[phase]; again {
			return fmt.Errorf("slowdown of %s is given twice: remove one", phase)
		}
		if *s == nil {
			*s = Slowdown{}
		}
		(*s)[phase] = percent
	}
	return nil
}

func parsePercent(value string) (float64, error) {
	number, found := strings.CutSuffix(value, "%")
	if !found || strings.Trim(number, "0123456789.") != "" {
		return 0, strconv.ErrSyntax // ParseFloat alone would take 0x1p3, 1_0 and nan
	}
	percent, err := strconv.ParseFloat(number, 64)
	if err == nil && percent >= 100 {
		err = strconv.ErrRange
	}
	return percent, err
}

// String returns what [Slowdown.Set] accepts, or "" where nothing is slowed.
func (s Slowdown) String() string {
	var entries []string
	for _, phase := range slices.Sorted(maps.Keys(s)) {
		entries = append(entries, phase+"="+strconv.FormatFloat(s[phase], 'f', -1, 64)+"%")
	}
	return strings.Join(entries, ",")
}

// again returns how often the work of a phase must be done again for its rate to
// fall by the percentage. Work is repeated, and no time is waited for, so that
// the percentage is one of the engine's own work on a busy host, too.
func (s Slowdown) again(phase string) float64 {
	percent := s[phase]
	return percent / (100 - percent)
}
