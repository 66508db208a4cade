package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Change is what a metric may change by for the worse: "8%", "0.5 s", "8% and 0.5 s" for the larger one of
// both, or "0.5% + 0.5 us" for their sum. "noise 1% to 10%" stands for a percentage that the recorded noise gives,
// The amount may be a multiple of a spread: "3 sd", "4 mad" or "2 stderr". "+-" before it limits changes for the better as
// well, and "from 4 us" behind it leaves smaller references unjudged.
type Change struct {
	Percent  Percent
	Absolute float64 // in Unit, or so many times Spread
	Sum      bool
	Both     bool
	From     float64
	Floor    Percent // of noise, 0 if the percentage is Percent
	Ceiling  Percent
	Unit     string // of Absolute and From, "" if it is not given
	Spread   string // "sd" or "mad" of earlier runs, or "stderr"; "" is none
	noise    bool
	text     string
}

// PercentChange is the change of a percentage.
func PercentChange(p Percent) *Change { return &Change{Percent: p, text: p.String()} }

// String is the change as it is written.
func (c *Change) String() string { return c.text }

// problem returns why the change cannot be meant, or "". medians: they decide, and a number that repeats has no noise.
func (c *Change) problem(medians bool) string {
	switch {
	case c.noise && c.Floor == 0:
		return "noise from 0% is not a limit that noise allows: write a percentage above 0%"
	case c.noise && c.Ceiling < c.Floor:
		return fmt.Sprintf("noise %v to %v: swap them or correct one", c.Floor, c.Ceiling)
	case !c.noise && c.Percent == 0 && c.Absolute == 0 && !medians:
		return "0% is not a limit that noise allows: write a percentage above 0%, exact: true in the metric, or policy.method: threshold"
	}
	return ""
}

const changeExamples = "write for example 8%, +-10%, 0.5 s, 8% and 0.5 s, 0.5% + 0.5 us, 8% from 4 us, " +
	"3 sd, 3% and 4 mad, or noise 1% to 10%"

// maxChange is the largest percentage.
const maxChange = 10000

// spreads are the units of an amount that is a multiple of a spread.
var spreads = []string{"sd", "mad", "stderr"}

// UnmarshalText reads the forms above.
func (c *Change) UnmarshalText(data []byte) error {
	*c = Change{text: strings.Join(strings.Fields(string(data)), " ")}
	rest, both := c.text, false
	for _, sign := range []string{"+-", "±"} {
		if s, ok := strings.CutPrefix(rest, sign); ok {
			rest, both = strings.TrimSpace(s), true
		}
	}
	c.Both = both
	rest, from, floor := strings.Cut(rest, " from ")
	if floor {
		if err := c.amount(from, &c.From); err != nil {
			return err
		}
	}
	share, amount, sum := strings.Cut(rest, " + ")
	larger := false
	if !sum {
		share, amount, larger = strings.Cut(rest, " and ")
	}
	c.Sum = sum
	if sum || larger {
		if err := c.amount(amount, &c.Absolute); err != nil {
			return err
		}
	} else if _, unit, ok := strings.Cut(rest, " "); ok && !strings.HasPrefix(rest, "noise ") && unit != "%" {
		return c.amount(rest, &c.Absolute)
	}
	return c.share(share)
}

// share reads the percentage, or that from noise.
func (c *Change) share(s string) error {
	if noise, ok := strings.CutPrefix(s, "noise "); ok {
		low, high, ok := strings.Cut(noise, " to ")
		if !ok {
			return fmt.Errorf("noise needs two percentages, as in noise 1%% to 10%%, got %s", quote(s))
		}
		if err := c.Floor.UnmarshalText([]byte(low)); err != nil {
			return err
		}
		if err := c.Ceiling.UnmarshalText([]byte(high)); err != nil {
			return err
		}
		c.noise = true
		return nil
	}
	number, sign := strings.CutSuffix(s, "%")
	switch v, err := strconv.ParseFloat(number, 64); {
	case err == nil && !sign:
		return fmt.Errorf("%s can be read in two ways: write %s%%, or 0%% and %s for an amount without a unit", quote(s), s, s)
	case err == nil && v >= 100 && v <= maxChange: // a time can double, unlike other percentages of a configuration
		c.Percent = Percent(v)
		return nil
	}
	if err := c.Percent.UnmarshalText([]byte(s)); err != nil {
		return fmt.Errorf("want a percentage from 0%% to %d%%, or an amount, got %s; %s", maxChange, quote(s), changeExamples)
	}
	return nil
}

// amount reads a number with its unit.
func (c *Change) amount(s string, into *float64) error {
	number, unit, _ := strings.Cut(s, " ")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || strings.ContainsAny(number, "xXpP_") || !(v > 0) || math.IsInf(v, 0) {
		return fmt.Errorf("want a number above 0 in the metric's unit, got %s; %s", quote(s), changeExamples)
	}
	if slices.Contains(spreads, unit) {
		if into != &c.Absolute {
			return fmt.Errorf("from needs a number in the metric's unit, got %s; %s", quote(s), changeExamples)
		}
		c.Spread, *into = unit, v
		return nil
	}
	if unit != "" && c.Unit != "" && unit != c.Unit {
		return fmt.Errorf("%s and %s are two units: write both in that of the metric", quote(c.Unit), quote(unit))
	}
	if unit != "" {
		c.Unit = unit
	}
	*into = v
	return nil
}

// Bound is a smallest or largest median, as in "0.62", or one that an interval is to be within, as in "0.62 at 95%".
type Bound struct {
	Value float64
	Sure  Percent // of the interval, 0 for the median alone
}

// UnmarshalText reads both forms.
func (b *Bound) UnmarshalText(data []byte) error {
	number, sure, interval := strings.Cut(string(data), " at ")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) || strings.ContainsAny(number, "xXpP_") {
		return fmt.Errorf("want a number, got %s; write for example 0.62, or 0.62 at 95%% for a bound that holds with the interval",
			quote(string(data)))
	}
	*b = Bound{Value: v}
	if !interval {
		return nil
	}
	if err := b.Sure.UnmarshalText([]byte(strings.TrimSpace(sure))); err != nil {
		return err
	}
	if b.Sure < 50 {
		return fmt.Errorf("want a confidence from 50%% to below 100%%, got %v", b.Sure)
	}
	return nil
}
