package optrace_test

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats/optrace"
	"github.com/google/go-cmp/cmp"
)

func FuzzFormats(f *testing.F) {
	names := slices.Sorted(maps.Keys(optrace.Formats))
	for i, name := range names {
		for _, file := range fixtures(f, name) {
			f.Add(i, readFile(f, file))
		}
	}
	f.Add(slices.Index(names, "torch-trace"), pack(f, []byte(`[{"ph":"X","cat":"kernel","name":"a","ts":0,"dur":1}]`)))
	f.Fuzz(func(t *testing.T, i int, data []byte) {
		if i < 0 || i >= len(names) {
			return
		}
		checkReader(t, names[i], data)
	})
}

// checkReader demands what every format promises.
func checkReader(t *testing.T, format string, data []byte) {
	t.Helper()
	read := optrace.Formats[format]
	kept := slices.Clone(data)
	p, err := read(data)
	if string(kept) != string(data) {
		t.Error("the reader has changed its input")
	}
	again, err2 := read(data)
	if diff := cmp.Diff(describe(p, err), describe(again, err2)); diff != "" {
		t.Errorf("two readings differ: %s", diff)
	}
	if err != nil {
		if p != nil || !strings.ContainsAny(err.Error(), ":;") || !utf8.ValidString(err.Error()) || len(err.Error()) > 600 || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("got %v with error %q", p, err)
		}
		return
	}
	if !inRange(p.Total) {
		t.Errorf("total is %v", p.Total)
	}
	checkEntries(t, p.Operators, format != "msmodeling-table")
	checkEntries(t, p.CriticalPath, true)
	for k, v := range p.Values {
		if v.Metric != "memory_available_gb" && v.Value < 0 || math.IsNaN(v.Value) || math.IsInf(v.Value, 0) || k > 0 && p.Values[k-1].Metric >= v.Metric {
			t.Errorf("value %d is %+v after %v", k, v, p.Values[:k])
		}
		if !slices.ContainsFunc(optrace.Metrics, func(m bench.Metric) bool { return m.Name == v.Metric }) {
			t.Errorf("%s is not described", v.Metric)
		}
	}
}

// checkEntries demands that names stand once and the largest first, if sums.
func checkEntries(t *testing.T, entries []bench.Entry, sums bool) {
	t.Helper()
	seen := map[string]bool{}
	var all bench.Entry
	for k, e := range entries {
		if !inRange(e.Total) || e.Calls < 0 || e.Name == "" || len(e.Name) > 200 || !utf8.ValidString(e.Name) {
			t.Errorf("entry %d is %+v", k, e)
		}
		if sums && (seen[e.Name] || k > 0 && entries[k-1].Total < e.Total) {
			t.Errorf("entry %d is %+v after %+v", k, e, entries[:k])
		}
		seen[e.Name] = true
		all.Total += e.Total
		all.Calls += e.Calls
	}
	if len(entries) > 4096 || !sums && (!inRange(all.Total) || all.Calls < 0 || all.Calls > 1<<53) {
		t.Errorf("%d entries with %+v", len(entries), all)
	}
}

func inRange(seconds float64) bool { return seconds >= 0 && seconds <= 1e9 }

// TestNoneIsToldApart: another program's output is ErrNone, so that the next
// source is tried, and one that is cut off is not.
func TestNoneIsToldApart(t *testing.T) {
	t.Parallel()
	for name, read := range optrace.Formats {
		for _, text := range []string{"", "hello\n", "{}", "[]", `{"a":1}`, "\x00", "----  ----\n a  b\n----  ----\n"} {
			if p, err := read([]byte(text)); !errors.Is(err, optrace.ErrNone) || p != nil {
				t.Errorf("%s of %q: got %v, %v, want ErrNone", name, text, p, err)
			}
		}
	}
	for _, name := range []string{"json", "msmodeling-metrics", "msmodeling-trace", "torch-trace"} {
		if _, err := optrace.Formats[name]([]byte(`{"traceEvents":[{"a":`)); err == nil || errors.Is(err, optrace.ErrNone) {
			t.Errorf("%s: got %v, want an error that is not ErrNone", name, err)
		}
	}
}
