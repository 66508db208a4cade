package evalconfig_test

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/accelgate/accelgate/internal/suite/kernels/evalconfig"
)

var update = flag.Bool("update", false, "rewrite what the files in testdata/explain want")

// TestExplain reads each file of testdata/explain: perhaps a configuration,
// the query as a command line, and what is said about it.
func TestExplain(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/explain/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]*txtar.File{}
			for i := range archive.Files {
				parts[archive.Files[i].Name] = &archive.Files[i]
			}
			got := answer(t, parts["eval.yaml"], strings.Fields(string(parts["query"].Data)))
			if *update {
				parts["want"].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := string(parts["want"].Data); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// answer returns warnings, notes and the explanation, or an error.
func answer(t *testing.T, text *txtar.File, query []string) string {
	file := evalconfig.Default()
	if text != nil {
		var err error
		if file, err = evalconfig.Parse(text.Name, text.Data); err != nil {
			return "error: " + err.Error() + "\n"
		}
	}
	if err := file.CheckEvaluators([]string{"elementwise", "low_bit", "sampling"}); err != nil {
		return "error: " + err.Error() + "\n"
	}
	var b strings.Builder
	for _, line := range file.Warnings() {
		b.WriteString("warning: " + line + "\n")
	}
	for _, line := range file.Notes() {
		b.WriteString("note: " + line + "\n")
	}
	definition, opType, flags := parseQuery(t, query)
	if err := file.Explain(&b, definition, opType, flags); err != nil {
		return "error: " + err.Error() + "\n"
	}
	return b.String()
}

func parseQuery(t *testing.T, args []string) (definition, opType string, o evalconfig.Overrides) {
	set := flag.NewFlagSet("query", flag.ContinueOnError)
	set.StringVar(&opType, "op-type", "", "")
	set.Func("mode", "", func(s string) error { o.Mode = &s; return nil })
	whole := func(name string, p **int) {
		set.Func(name, "", func(s string) error { n, err := strconv.Atoi(s); *p = &n; return err })
	}
	number := func(name string, p **float64) {
		set.Func(name, "", func(s string) error { v, err := strconv.ParseFloat(s, 64); *p = &v; return err })
	}
	whole("timeout", &o.TimeoutSeconds)
	whole("warmup-runs", &o.WarmupRuns)
	whole("iterations", &o.Iterations)
	whole("num-trials", &o.NumTrials)
	number("rtol", &o.Rtol)
	number("atol", &o.Atol)
	number("required-matched-ratio", &o.RequiredMatchedRatio)
	set.BoolFunc("no-profile-baseline", "", func(string) error { o.ProfileBaseline = new(bool); return nil })
	if err := set.Parse(args[1:]); err != nil {
		t.Fatal(err)
	}
	return args[0], opType, o
}
