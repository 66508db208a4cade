package bench

import "testing"

func TestAlike(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		condition, a, b string
		want            bool
	}{
		{"concurrency", "4", "4", true},
		{"concurrency", "4", "4.0", false},
		{"concurrency", "", "4", false},
		{StreamedTokens, "", "", true},
		{StreamedTokens, "", "0.95", true},
		{StreamedTokens, "", "0.22", false},
		{StreamedTokens, "0.22", "", false},
		{StreamedTokens, "0.22", "0.31", true},
		{StreamedTokens, "0.22", "0.51", false},
		{StreamedTokens, "x", "0.51", false},
		{StreamedTokens, "NaN", "0.51", false},
	} {
		if got := SameCondition(test.condition, test.a, test.b); got != test.want {
			t.Errorf("%s: %q and %q: %t", test.condition, test.a, test.b, got)
		}
		a, b := map[string]string{}, map[string]string{"mode": "closed"}
		if test.a != "" {
			a[test.condition] = test.a
		}
		if test.b != "" {
			b[test.condition] = test.b
		}
		if SameConditions(a, b) || SameConditions(b, a) {
			t.Errorf("%v and %v are alike, though one has a mode", a, b)
		}
		delete(b, "mode")
		if got := SameConditions(a, b); got != test.want {
			t.Errorf("%v and %v: %t", a, b, got)
		}
	}
}
