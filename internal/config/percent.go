package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Percent is a share in percent, from 0 to below 100: the value 10 stands for
// a tenth. In a file it is written 10% or 10. A plain number between 0 and 1
// needs its percent sign, because 0.1 is read as a tenth by some people and as
// a thousandth by others.
type Percent float64

// UnmarshalText reads "10%" or "10".
func (p *Percent) UnmarshalText(text []byte) error {
	s, sign := strings.CutSuffix(string(text), "%")
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || strings.ContainsAny(s, "xXpP_") || !(v >= 0 && v < 100) {
		return fmt.Errorf("want a percentage from 0%% to below 100%%, got %s; write for example 10%%", quote(string(text)))
	}
	if v > 0 && v < 1 && !sign {
		return fmt.Errorf("%s can be read in two ways; write %s for a share of %s, or %s%%", s, Percent(v*100), s, s)
	}
	*p = Percent(v)
	return nil
}

// String returns the shortest form, such as "10%".
func (p Percent) String() string {
	return strconv.FormatFloat(float64(p), 'g', -1, 64) + "%"
}
