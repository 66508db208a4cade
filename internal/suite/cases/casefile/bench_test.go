package casefile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
)

// BenchmarkLoad reads 2,000 cases with 200 operators each, and does the same
// with encoding/json, which neither checks them nor says where they are wrong.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	operators := make([]string, 200)
	for i := range operators {
		operators[i] = fmt.Sprintf("\n    {\n      \"name\": \"aten.operator_%d.default\",\n      \"total_time_s\": %d.5e-6,\n      \"num_calls\": %d\n    }", i, 300-i, i)
	}
	paths := make([]string, 2000)
	size := 0
	for i := range paths {
		text := fmt.Sprintf("{\"name\": \"case-%d\", \"description\": \"d\", \"user_input\": {\"tp_size\": 2, \"do_compile\": true}, \"operators\": [%s]}", i, strings.Join(operators, ","))
		paths[i] = filepath.Join(dir, fmt.Sprintf("case-%d.json", i))
		size += len(text)
		if err := os.WriteFile(paths[i], []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("Load", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			if cases, err := casefile.Load(dir); err != nil || len(cases) != len(paths) {
				b.Fatal(len(cases), err)
			}
		}
	})
	b.Run("Unmarshal", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			for _, path := range paths {
				data, err := os.ReadFile(path)
				if err != nil {
					b.Fatal(err)
				}
				if err := json.Unmarshal(data, new(looseCase)); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

type looseCase struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	UserInput   map[string]any `json:"user_input"`
	Operators   []struct {
		Name       string  `json:"name"`
		TotalTimeS float64 `json:"total_time_s"`
		NumCalls   int64   `json:"num_calls"`
	} `json:"operators"`
}
