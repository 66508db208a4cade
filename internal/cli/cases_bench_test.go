package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/cli"
	"github.com/accelgate/accelgate/internal/exit"
)

// BenchmarkReplay loads, compares and renders 2,000 cases of 200 operators each
// through the command, in msmodeling's layout and as JSON with every row. Beside
// it, the floor: reading the same files and checking that the cases are JSON.
func BenchmarkReplay(b *testing.B) {
	const cases, operators = 2000, 200
	dir := b.TempDir()
	writeReplay(b, dir, cases, operators)
	for _, format := range []string{"test", "json"} {
		b.Run(fmt.Sprintf("%s-%dx%d", format, cases, operators), func(b *testing.B) {
			for b.Loop() {
				replayOnce(b, dir, format)
			}
		})
	}
	b.Run(fmt.Sprintf("floor-%dx%d", cases, operators), func(b *testing.B) {
		for b.Loop() {
			readFloor(b, dir)
		}
	})
}

func replayOnce(b *testing.B, dir, format string) {
	b.Helper()
	var stdout, stderr bytes.Buffer
	c := cli.Command{Stdin: &stdout, Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: time.Now}
	code := c.Main(context.Background(), []string{"cases", "replay", "--compat", "msmodeling", "--format", format,
		"--cases", filepath.Join(dir, "cases"), "--tables", filepath.Join(dir, "tables")})
	if code != exit.GateFailed || stdout.Len() < 100_000 {
		b.Fatalf("exit code %d, %d bytes: %.500s", code, stdout.Len(), &stderr)
	}
}

func readFloor(b *testing.B, dir string) {
	b.Helper()
	for _, pattern := range []string{"cases/*.json", "tables/*.txt"} {
		paths, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil || filepath.Ext(path) == ".json" && !json.Valid(data) {
				b.Fatal(path, err)
			}
		}
	}
}

// writeReplay writes cases and tables: a tenth of the cases fails, and a tenth
// of their operators differs.
func writeReplay(b *testing.B, dir string, cases, operators int) {
	b.Helper()
	for _, sub := range []string{"cases", "tables"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	for i := range cases {
		name := fmt.Sprintf("case-%04d", i)
		scale := 1.0
		if i%10 == 0 {
			scale = 1.3
		}
		var table, list bytes.Buffer
		rule := "--------------------------  --------------  ------------  ----------\n"
		fmt.Fprintf(&table, "%sName                        analytic total  analytic avg  # of Calls\n%s", rule, rule)
		for k := range operators {
			ms := float64(operators-k) + 1
			fmt.Fprintf(&table, "aten.operator_%03d.default   %14s  %12s  %10d\n", k, fmt.Sprintf("%.3fms", ms*scale), fmt.Sprintf("%.3fus", ms*scale*100), 10)
			fmt.Fprintf(&list, ",\n    {\n      \"name\": \"aten.operator_%03d.default\",\n      \"total_time_s\": %v,\n      \"num_calls\": 10\n    }", k, ms/1000)
		}
		total := float64(operators*(operators+3)) / 2
		fmt.Fprintf(&table, "%sTotal time for analytic: %.3fs\n", rule, total*scale/1000)
		text := fmt.Sprintf("{\n  \"name\": %q,\n  \"description\": \"generated\",\n  \"initial_time_s\": %v,\n  \"baseline_time_s\": %v,\n  \"operator_top_n\": %d,\n  \"operators\": [%s\n  ]\n}\n",
			name, total/1000, total/1000, operators, list.Bytes()[1:])
		for path, data := range map[string][]byte{"cases/" + name + ".json": []byte(text), "tables/" + name + ".txt": table.Bytes()} {
			if err := os.WriteFile(filepath.Join(dir, path), data, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
}
