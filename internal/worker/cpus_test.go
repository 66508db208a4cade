package worker

import (
	"slices"
	"testing"
)

func TestParseCPUs(t *testing.T) {
	for list, want := range map[string][]int{"0": {0}, "0-3": {0, 1, 2, 3}, "1,8-9": {1, 8, 9}, "1023": {1023}, "3-3": {3}} {
		if got, err := ParseCPUs(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", list, got, err, want)
		}
	}
	for _, list := range []string{"", "a", "1-", "-1", "3-1", "1024", "0-1024", "1,,2", "1, 2", "0x1", "+1", "99999999999999999999"} {
		if got, err := ParseCPUs(list); err == nil {
			t.Errorf("%q: %v, want an error", list, got)
		}
	}
}
