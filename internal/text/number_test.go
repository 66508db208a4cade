package text

import "testing"

func TestIsNumber(t *testing.T) {
	for s, want := range map[string]bool{"12": true, "0.5": true, "1e-3": true, "2.5E10": true,
		"": false, "-1": false, "+1": false, ".5": false, "5.": false, "0x10": false, "inf": false, "NaN": false, "1_000": false, "1 ": false, "1e+3": false} {
		if got := IsNumber(s); got != want {
			t.Errorf("IsNumber(%q) = %v, want %v", s, got, want)
		}
	}
}
