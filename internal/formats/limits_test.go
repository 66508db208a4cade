package formats_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/formats"
)

// list makes a JSON array whose elements count as so many values each: as many
// elements as are accepted, and more.
func list(element string, values, more int) string {
	const accepted = 1<<21 - 1
	return "[" + strings.Repeat(element+",", accepted/values-1+more) + element + "]"
}

// TestDocumentIsBounded: few bytes must not take much memory, and where the
// result is too large, nothing else is taken for it.
func TestDocumentIsBounded(t *testing.T) {
	const large = "output holds no JSON result: it holds more than 2097152 values, an object counted as 8; print fewer"
	objects := list("{}", 9, 1)
	for name, tt := range map[string]struct {
		stdout, err string
		v           float64
	}{
		"objects":        {stdout: objects, err: large},
		"filled objects": {stdout: list(`{"v":1}`, 9, 1), err: large},
		"nested objects": {stdout: list(`{"v":{}}`, 17, 1), err: large},
		"numbers":        {stdout: list("0", 1, 1), err: large},
		"no JSON":        {stdout: objects + "]", err: "output holds no JSON result: invalid character ']' after top-level value"},
		"earlier line":   {stdout: `{"v":1}` + "\n" + `{"l":` + objects + "}", err: large},
		"last element":   {stdout: strings.TrimSuffix(objects, "{}]") + "\n{\"v\":1}\n]", err: large},
		"lines":          {stdout: strings.Repeat("{\"v\":1}\n", 1<<18) + `{"v":2}`, v: 2},
		"text before":    {stdout: strings.Repeat(",", 1<<22) + "\n" + `{"v":3}`, v: 3},
	} {
		var doc *formats.Document
		stdout := []byte(tt.stdout)
		allocated := bytesOf(func() { doc = formats.NewDocument(stdout) })
		if text(doc.Err()) != tt.err {
			t.Errorf("%s: got %v, want %q", name, doc.Err(), tt.err)
		}
		if got, _, err := doc.Number(path(t, "v")); got != tt.v || err != nil {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, tt.v)
		}
		if limit := 2*len(stdout) + 1<<20; allocated > limit {
			t.Errorf("%s: allocated %d bytes for %d, want at most %d", name, allocated, len(stdout), limit)
		}
	}
}

// TestDocumentMemory takes as many objects as are accepted, which cost most.
func TestDocumentMemory(t *testing.T) {
	stdout := []byte(list(`{"a":1}`, 9, 0))
	var doc *formats.Document
	allocated := bytesOf(func() { doc = formats.NewDocument(stdout) })
	if err := doc.Err(); err != nil {
		t.Error(err)
	}
	if limit := 128 << 20; allocated > limit {
		t.Errorf("allocated %d bytes for %d, want at most %d", allocated, len(stdout), limit)
	}
}

// bytesOf returns how many bytes f allocates.
func bytesOf(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}
