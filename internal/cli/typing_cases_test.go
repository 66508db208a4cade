package cli_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestPrintedCommandsOfCasesDoNotDoWhatTheyClaim is the same for case files, whose
// numbers are accepted by commands of their own.
func TestPrintedCommandsOfCasesDoNotDoWhatTheyClaim(t *testing.T) { printedOfCases(t, 2) }

func TestPrintedCommandsOfManyCasesNightly(t *testing.T) {
	testtier.Nightly(t)
	printedOfCases(t, 20)
}

func printedOfCases(t *testing.T, runs int) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	did := map[string]int{}
	for seed := range runs {
		g := generateCases(t, seed)
		text := g.judge(t)
		if len(typedIn(text)) == 0 {
			t.Errorf("no command is printed")
		}
		for _, typed := range typedIn(text) {
			did[g.executeCase(t, typed)]++
		}
		if t.Failed() {
			t.Fatalf("seed %d: %q\n%s", seed, g.flags, text)
		}
	}
	t.Log(did)
	for _, kind := range []string{"refresh", "initial", "cell"} {
		if did[kind] == 0 {
			t.Errorf("no generated run printed a command of kind %s: %v", kind, did)
		}
	}
}

var caseNames = []string{"one", "two"}

// generateCases makes a folder with two suites, one of them of cases that became
// slower than the baseline time, and one of them than the initial time, too.
func generateCases(t *testing.T, seed int) *generated {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(seed), 17))
	g := &generated{dir: t.TempDir(), config: pick(rng, "accelgate.yaml", "gate.yaml", "sub dir/it's.yaml"), label: pick(rng, "h100-a", "")}
	g.write(t, g.config, "version: 1\nsuites:\n  - name: c\n    kind: cases\n    cases: cases\n    commands:\n"+
		"      - {type: text, command: [cat, 'out/{model_id}'], read: [{format: json}]}\n"+strings.NewReplacer("version: 1\nsuites:\n", "", "name: tps", "name: rate").Replace(configuration([]string{"m"}, false)))
	g.write(t, filepath.Join(filepath.Dir(g.config), "engine"), "#!/bin/sh\nexec cat \"out/$1.$2.$FLASH\"\n")
	if g.config != "accelgate.yaml" {
		g.flags = append(g.flags, "--config", g.config)
	}
	if g.label != "" {
		g.flags = append(g.flags, "--host-label", g.label)
	}
	if rng.IntN(2) == 0 {
		g.flags = append(g.flags, "--suite", "c")
	}
	t.Chdir(g.dir)
	g.values(t, []string{"m"}, func(string) string { return "tps=100" })
	for i, name := range caseNames {
		initial := []string{"1", "1.9"}[(seed+i)%2]
		g.write(t, g.casePath(name), fmt.Sprintf(`{"name": %q, "description": "d", "user_input": {"model_id": %q}, "initial_time_s": %s, "baseline_time_s": 1}`, name, name, initial))
		g.write(t, filepath.Join(filepath.Dir(g.config), "out", name), `{"total_s": 2}`)
	}
	return g
}

func (g *generated) casePath(name string) string {
	return filepath.Join(filepath.Dir(g.config), "cases", name+".json")
}

// executeCase runs a printed command in a copy of the folder. A refresh must make the
// one case pass, and no other.
func (g *generated) executeCase(t *testing.T, typed string) string {
	t.Helper()
	scratch := filepath.Join(t.TempDir(), "a copy")
	if err := os.CopyFS(scratch, os.DirFS(g.dir)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(scratch)
	defer t.Chdir(g.dir)
	if !strings.HasPrefix(typed, "accelgate ") {
		return "child"
	}
	args := words(t, typed)
	code, out := accelgate(args...)
	if code == exit.Usage {
		t.Errorf("%s\nis refused: %s", typed, out)
	}
	if args[0] != "cases" {
		if i := slices.Index(args, "--only"); i >= 0 && args[0] == "run" {
			g.reproduced(t, typed, args, code)
			return "cell"
		}
		return "other"
	}
	name := args[slices.Index(args, "--only")+1]
	after, again := accelgate(slices.Concat([]string{"run", "--only", name}, g.flags)...)
	if code != 0 || after != 0 {
		t.Errorf("%s: %d\n%s\nand the case does not pass: %s", typed, code, out, again)
	}
	for _, other := range caseNames {
		data, err := os.ReadFile(g.casePath(other))
		if err != nil {
			t.Fatal(err)
		}
		if changed := strings.Contains(string(data), `"initial_time_s": 2`); changed != (other == name && slices.Contains(args, "--initial-times")) {
			t.Errorf("%s: the initial time of %s: %s", typed, other, data)
		}
		if measured := regexp.MustCompile(`"baseline_time_s": 2`).Match(data); other == name && !measured {
			t.Errorf("%s: the baseline time of %s: %s", typed, other, data)
		}
	}
	if slices.Contains(args, "--initial-times") {
		return "initial"
	}
	return "refresh"
}
