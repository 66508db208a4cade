package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/cli"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestPrintedCommandsDoNotDoWhatTheyClaim: what a report tells people to type lacked
// the configuration, the label of the host, the suite, the profile and the
// environment of the cell. Each printed command of generated runs is executed, by a
// shell's rules, in a copy of the folder.
func TestPrintedCommandsDoNotDoWhatTheyClaim(t *testing.T) { printedCommands(t, 15) }

func TestPrintedCommandsOfManyRunsNightly(t *testing.T) {
	testtier.Nightly(t)
	printedCommands(t, 100)
}

func printedCommands(t *testing.T, runs int) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	did := map[string]int{}
	for seed := range runs {
		g := generate(t, rand.New(rand.NewPCG(uint64(seed), 17)))
		text := g.judge(t)
		for _, typed := range typedIn(text) {
			kind := g.execute(t, typed, text)
			did[kind]++
		}
		if t.Failed() {
			t.Fatalf("seed %d: %q\n%s", seed, g.flags, text)
		}
	}
	t.Log(did)
	for _, kind := range []string{"cell", "update", "relabel", "prune", "child"} {
		if did[kind] == 0 {
			t.Errorf("no generated run printed a command of kind %s: %v", kind, did)
		}
	}
}

// generated is a folder with a configuration, a baseline, and a program whose
// output depends on the environment of the cell.
type generated struct {
	dir    string
	config string
	label  string
	flags  []string
	base   bool // there is a baseline
	report bool // the commands are those of accelgate report
	slow   []string
	broken []string
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

func generate(t *testing.T, rng *rand.Rand) *generated {
	t.Helper()
	g := &generated{dir: t.TempDir(), config: pick(rng, "accelgate.yaml", "gate.yaml", "sub dir/it's.yaml"), base: rng.IntN(5) > 0}
	derived, twoSuites := rng.IntN(3) == 0, rng.IntN(2) == 0
	if !derived {
		g.label = pick(rng, "h100-a", "desk")
	}
	models := []string{"m", "it's m"}[:1+rng.IntN(2)]
	g.write(t, g.config, configuration(models, twoSuites))
	g.write(t, filepath.Join(filepath.Dir(g.config), "engine"), "#!/bin/sh\nexec cat \"out/$1.$2.$FLASH\"\n")
	if g.config != "accelgate.yaml" {
		g.flags = append(g.flags, "--config", g.config)
	}
	if g.label != "" {
		g.flags = append(g.flags, "--host-label", g.label)
	}
	if twoSuites && rng.IntN(2) == 0 {
		g.flags = append(g.flags, "--suite", "s")
	}
	if rng.IntN(3) == 0 {
		g.flags = append(g.flags, "--profile", "smoke")
	}
	if rng.IntN(4) == 0 {
		g.flags = append(g.flags, "--threshold", "7%")
	}
	t.Chdir(g.dir)
	g.values(t, models, func(string) string { return "tps=100" })
	if g.base {
		if code, out := accelgate(slices.Concat([]string{"baseline", "update", "--reason", "first"}, g.flags)...); code != 0 {
			t.Fatalf("baseline: %d\n%s", code, out)
		}
	}
	if g.base && rng.IntN(2) == 0 { // commands that record do not have it
		g.flags = append(g.flags, "--require-baseline")
	}
	if path := filepath.Join(filepath.Dir(g.config), "baselines"); g.base && rng.IntN(6) == 0 { // of a machine that was replaced
		files, _ := filepath.Glob(filepath.Join(path, "*.json"))
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		g.write(t, files[0], regexp.MustCompile(`"cpu": "[^"]*"`).ReplaceAllString(string(data), `"cpu": "Another CPU"`))
	}
	g.report = !slices.Contains(g.flags, "--suite") && !slices.Contains(g.flags, "--profile") && rng.IntN(2) == 0
	g.values(t, models, func(name string) string {
		switch rng.IntN(4) {
		case 0:
			g.slow = append(g.slow, name)
			return "tps=50"
		case 1:
			g.broken = append(g.broken, name)
			return ""
		}
		return "tps=100"
	})
	if len(models) > 1 && rng.IntN(2) == 0 {
		g.write(t, g.config, configuration(models[:1], twoSuites))
	}
	return g
}

func configuration(models []string, twoSuites bool) string {
	var b strings.Builder
	b.WriteString("version: 1\nsuites:\n")
	for _, suite := range []string{"s", "t"} {
		if suite == "t" && !twoSuites {
			break
		}
		fmt.Fprintf(&b, "  - name: %s\n    kind: models\n    command: [sh, ./engine, '{model.id}', %s]\n    models:\n", suite, suite)
		for _, m := range models {
			fmt.Fprintf(&b, "      - {id: %q, vars: {id: %q}}\n", m+"-"+suite, m+"-"+suite)
		}
		b.WriteString("    backends: [cpu]\n    features: [f]\n    sweeps: [{env: FLASH, values: ['1', 'o n']}]\n    profiles: {smoke: {sweeps: []}}\n" +
			"    metrics: [{name: tps, regexp: 'tps=(\\d+)', better: higher, unit: tok/s}]\n")
	}
	return b.String()
}

func (g *generated) write(t *testing.T, path, text string) {
	t.Helper()
	path = filepath.Join(g.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// values writes what the program prints for each cell; "" is a program that fails.
func (g *generated) values(t *testing.T, models []string, of func(string) string) {
	t.Helper()
	for _, m := range models {
		for _, suite := range []string{"s", "t"} {
			for _, flash := range []string{"", "1", "o n"} {
				name := fmt.Sprintf("%s-%s.%s.%s", m, suite, suite, flash)
				path := filepath.Join(filepath.Dir(g.config), "out", name)
				text := of(name)
				g.write(t, path, text)
				if text == "" {
					if err := os.Remove(filepath.Join(g.dir, path)); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

// accelgate runs a command in this process, in the working folder.
func accelgate(args ...string) (code int, out string) {
	var b bytes.Buffer
	env := map[string]string{"ACCELGATE_HEALTH": "off"}
	c := cli.Command{Stdin: strings.NewReader(""), Stdout: &b, Stderr: &b, Getenv: func(name string) string { return env[name] }, Now: time.Now}
	code = c.Main(context.Background(), args)
	return code, b.String()
}

// judge measures, and returns the report.
func (g *generated) judge(t *testing.T) string {
	t.Helper()
	_, text := accelgate(slices.Concat([]string{"run", "--format", "markdown"}, g.flags)...)
	if g.report {
		args := slices.Clone(g.flags)
		if i := slices.Index(args, "--host-label"); i >= 0 { // a run holds its label
			args = slices.Delete(args, i, i+2)
		}
		_, text = accelgate(slices.Concat([]string{"report", "--format", "markdown", filepath.Join(filepath.Dir(g.config), ".accelgate", "run.json")}, args)...)
	}
	return text
}

var (
	codeSpan = regexp.MustCompile("`((?:accelgate (?:run|baseline|cases) |cd |FLASH=|sh )[^`]*)`")
	codeLine = regexp.MustCompile(`(?m)^accelgate .*$`)
)

// typedIn returns the commands of a report in Markdown.
func typedIn(text string) []string {
	var typed []string
	for _, m := range codeSpan.FindAllStringSubmatch(text, -1) {
		typed = append(typed, m[1])
	}
	typed = append(typed, codeLine.FindAllString(text, -1)...)
	slices.Sort(typed)
	return slices.Compact(typed)
}

// execute runs a printed command in a copy of the folder and checks what it did. It
// returns of which kind it is.
func (g *generated) execute(t *testing.T, typed, text string) string {
	t.Helper()
	scratch := filepath.Join(t.TempDir(), "a copy")
	if err := os.CopyFS(scratch, os.DirFS(g.dir)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(scratch)
	defer t.Chdir(g.dir)
	if !strings.HasPrefix(typed, "accelgate ") {
		g.child(t, typed)
		return "child"
	}
	args := words(t, strings.ReplaceAll(typed, "BASE-CHECKOUT", g.dir))
	code, out := accelgate(args...)
	if code == 2 {
		t.Errorf("%s\nis refused: %s", typed, out)
	}
	switch {
	case args[0] == "baseline" && args[1] == "prune":
		if _, again := accelgate(slices.Concat([]string{"run"}, g.flags)...); code != 0 || strings.Contains(again, "missing") {
			t.Errorf("%s: %d\nleaves cells missing:\n%s", typed, code, again)
		}
		return "prune"
	case args[0] == "baseline":
		g.updated(t, typed, args, code, out)
		if slices.Contains(args, "new-label") {
			return "relabel"
		}
		return "update"
	case slices.Contains(args, "--list"):
		return "list"
	case slices.Contains(args, "--ab"):
		return "pairs"
	case slices.Contains(args, "--only"):
		g.reproduced(t, typed, args, code)
		return "cell"
	}
	g.again(t, typed, out)
	return "run"
}

// words splits a line as a POSIX shell does.
func words(t *testing.T, line string) []string {
	t.Helper()
	out, err := exec.Command("sh", "-c", `accelgate() { for word; do printf '%s\0' "$word"; done; }`+"\n"+line).Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

func (g *generated) run(t *testing.T) *bench.Run {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(filepath.Dir(g.config), ".accelgate", "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	run, err := bench.DecodeRun(data)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// reproduced demands that the one cell was measured, by the same host's baseline,
// and blocks again.
func (g *generated) reproduced(t *testing.T, typed string, args []string, code int) {
	t.Helper()
	run := g.run(t)
	only := args[slices.Index(args, "--only")+1]
	if len(run.Results) != 1 || run.Results[0].Cell.ID() != only || g.label != "" && run.Host.Label != g.label || code != exit.GateFailed {
		t.Errorf("%s: %d\nmeasured %d cells on %s, and %q was to be reproduced", typed, code, len(run.Results), run.Host.Label, only)
	}
	if i := slices.Index(args, "--repeats"); i >= 0 && fmt.Sprint(len(run.Results[0].Samples[0].Values)) != args[i+1] {
		t.Errorf("%s: %d values", typed, len(run.Results[0].Samples[0].Values))
	}
}

// again demands that the same cells were measured on the same host.
func (g *generated) again(t *testing.T, typed, out string) {
	t.Helper()
	got := g.run(t)
	data, err := os.ReadFile(filepath.Join(g.dir, filepath.Dir(g.config), ".accelgate", "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := bench.DecodeRun(data)
	if err != nil {
		t.Fatal(err)
	}
	if got.Host.Label != want.Host.Label || len(got.Results) != len(want.Results) || !slices.Equal(got.Unselected, want.Unselected) {
		t.Errorf("%s\nmeasured %d cells on %s, and %d on %s before:\n%s", typed, len(got.Results), got.Host.Label, len(want.Results), want.Host.Label, out)
	}
}

// updated demands that the host's own baseline, and no other file, holds the numbers
// of passed cells, so that only failed or vanished ones block afterwards.
func (g *generated) updated(t *testing.T, typed string, args []string, code int, out string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.Dir(g.config), "baselines", "*.json"))
	want := 1
	if slices.Contains(args, "new-label") && g.base {
		want = 2
	}
	if code != 0 || err != nil || len(files) != want {
		t.Errorf("%s: %d\nwrote %q: %s", typed, code, files, out)
	}
	if slices.Contains(args, "new-label") {
		return
	}
	_, again := accelgate(slices.Concat([]string{"run", "--format", "json"}, g.flags)...)
	var doc report.Document
	if err := json.NewDecoder(strings.NewReader(again[strings.Index(again, "{"):])).Decode(&doc); err != nil && err != io.EOF {
		t.Fatalf("%v: %s", err, again)
	}
	for _, v := range doc.Hosts[0].Verdicts {
		if v.Finding == gate.Regressed || v.Finding == gate.Untracked || doc.Hosts[0].Unjudged != "" {
			t.Errorf("%s\naccepted nothing: %s is %s, %s", typed, v.Cell, v.Finding, doc.Hosts[0].Unjudged)
		}
	}
}

// child demands that the program fails as it did, which only the environment of the
// cell makes it do.
func (g *generated) child(t *testing.T, typed string) {
	t.Helper()
	out, err := exec.Command("sh", "-c", typed).CombinedOutput()
	quoted := strings.NewReplacer(`"`, "", "'", "").Replace(string(out))
	named := slices.ContainsFunc(g.broken, func(name string) bool {
		return strings.Contains(quoted, "out/"+strings.ReplaceAll(name, "'", "")+":")
	})
	if err == nil || !named {
		t.Errorf("%s\nshould fail for want of one of %q: %v: %s", typed, g.broken, err, out)
	}
}
