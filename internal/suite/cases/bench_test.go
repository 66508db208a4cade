package cases_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/cases"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
)

// BenchmarkOpen opens 2,000 cases with 200 operators each; Load is the part of
// it that reads the files.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	var operators []string
	for i := range 200 {
		operators = append(operators, fmt.Sprintf(`{"name": "aten.op%d.default", "total_time_s": 0.00%03d, "num_calls": %d}`, i, 999-i, i+1))
	}
	files := map[string]string{}
	for i := range 2000 {
		name := fmt.Sprintf("case-%04d", i)
		files["cases/"+name+".json"] = `{"name": "` + name + `", "description": "d", "user_input": {"model_id": "m", "decode": true, "tp_size": 2}, "operators": [` +
			strings.Join(operators, ", ") + `]}`
	}
	write(b, dir, files)
	body := "    cases: cases\n    preset: msmodeling\n"
	b.Run("Load", func(b *testing.B) {
		for b.Loop() {
			if _, err := casefile.Load(dir + "/cases"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Open", func(b *testing.B) {
		for b.Loop() {
			if _, err := cases.Open(parse(b, body), environment(dir)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Expect", func(b *testing.B) {
		for b.Loop() {
			if _, err := cases.Expect(parse(b, body), dir); err != nil {
				b.Fatal(err)
			}
		}
	})
}
