package history

import (
	"strings"
	"testing"
)

// TestAllValuesAreBounded: numbers of two bytes take eight in memory.
func TestAllValuesAreBounded(t *testing.T) {
	line := []byte(`{"schema":1,"revision":"r","started":"2026-03-01T09:00:00Z","metrics":[{"name":"m","better":"lower"}],"cells":{"a":[[0,1]],"b":[[0,1]]}}`)
	for _, above := range []int{maxAllValues - 2, maxAllValues - 1} {
		r := reader{File: &File{}, values: above}
		if err := r.line(1, line); (err == nil) != (above == maxAllValues-2) || err != nil && !strings.Contains(err.Error(), "more than 33554432") {
			t.Errorf("below %d values: %v", above, err)
		}
	}
}
