package optrace_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/formats/optrace"
)

// BenchmarkTables reads 2,000 tables of 200 operators, which is a part of a
// replay that must take less than 1 s, and checks as much JSON for comparison.
func BenchmarkTables(b *testing.B) {
	table := makeTable(200)
	p, err := optrace.Formats["msmodeling-table"](table)
	if err != nil || len(p.Operators) != 200 {
		b.Fatal(p, err)
	}
	same, err := json.Marshal(string(table))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("read", func(b *testing.B) {
		b.SetBytes(2000 * int64(len(table)))
		b.ReportAllocs()
		for b.Loop() {
			for range 2000 {
				if _, err := optrace.Formats["msmodeling-table"](table); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("json.Valid", func(b *testing.B) {
		b.SetBytes(2000 * int64(len(same)))
		for b.Loop() {
			for range 2000 {
				if !json.Valid(same) {
					b.Fatal("not valid")
				}
			}
		}
	})
}

// BenchmarkTrace reads a trace of 100,000 events and compares with checking
// that it is JSON, and with decoding it by encoding/json.
func BenchmarkTrace(b *testing.B) {
	data := makeTrace(100_000)
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := optrace.Formats["msmodeling-trace"](data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("json.Valid", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if !json.Valid(data) {
				b.Fatal("not valid")
			}
		}
	})
	b.Run("json.Unmarshal", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			var decoded struct {
				TraceEvents []span `json:"traceEvents"`
			}
			if err := json.Unmarshal(data, &decoded); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkHostileInput reads 8 MiB, what accelgate keeps of an output.
func BenchmarkHostileInput(b *testing.B) {
	cases := hostile(8 << 20)
	cases["packed"] = bytes.Repeat(pack(b, bytes.Repeat([]byte{' '}, 1<<20)), 1000) // 1 GiB, of which 256 MiB are unpacked
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(cases[name])))
			for b.Loop() {
				for _, read := range optrace.Formats {
					if p, err := read(cases[name]); err == nil && name != "rows" {
						b.Fatal(p)
					}
				}
			}
		})
	}
}
