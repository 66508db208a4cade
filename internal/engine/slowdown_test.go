package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSlowdown(t *testing.T) {
	for _, c := range []struct {
		uses []string
		want Slowdown
	}{
		{[]string{"decode=30%"}, Slowdown{"decode": 30}},
		{[]string{"decode=30%,prefill=12.5%"}, Slowdown{"decode": 30, "prefill": 12.5}},
		{[]string{"prefill=.5%", "decode=99.9%"}, Slowdown{"prefill": 0.5, "decode": 99.9}},
		{[]string{"decode=0%"}, Slowdown{"decode": 0}},
	} {
		var got Slowdown
		for _, use := range c.uses {
			if err := got.Set(use); err != nil {
				t.Errorf("%q: %v", use, err)
			}
		}
		if diff := cmp.Diff(got, c.want); diff != "" {
			t.Errorf("%q: got -, want +\n%s", c.uses, diff)
		}
	}
}

func TestSlowdownRefuses(t *testing.T) {
	for _, list := range []string{
		"", ",", "decode", "decode=", "decode=%", "decode=.%", "decode=30", "decode=100%", "decode=1e1%", "decode=-1%",
		"decode=+1%", "decode=nan%", "decode=inf%", "decode=0x1p3%", "decode=1_0%", "decode=30%%", "decode= 30%",
		"load=30%", "Decode=30%", "decode=30%,", "decode=30%,decode=30%", "decode=1.2.3%", "decode=99999999999999999999%",
	} {
		var s Slowdown
		if err := s.Set(list); err == nil {
			t.Errorf("%q is taken as %v", list, s)
		}
	}
}

// FuzzSlowdown checks that what is accepted is in range and can be written
// down and read back.
func FuzzSlowdown(f *testing.F) {
	for _, seed := range []string{"decode=30%", "prefill=0.001%,decode=99.999%", "decode=30", "=%", "decode=1e5%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, list string) {
		var s, again Slowdown
		if s.Set(list) != nil {
			return
		}
		for phase, percent := range s {
			if !(percent >= 0 && percent < 100) || phase != "decode" && phase != "prefill" {
				t.Errorf("%q is taken as %v of %q", list, percent, phase)
			}
		}
		if err := again.Set(s.String()); err != nil || !cmp.Equal(again, s) {
			t.Errorf("%q is written %q and read back as %v, %v", list, s, again, err)
		}
	})
}
