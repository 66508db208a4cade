package pages_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/e2e/script"
)

func TestMain(m *testing.M) { script.Main(m) }

// stretch makes the quickstart's limits and the pages' demonstrations so wide
// that a machine which runs other tests at the same time does not matter: what
// these tests show must not depend on its speed. What looks slower is measured
// again, because one case of a loaded host easily takes twice its time.
var stretch = strings.NewReplacer(
	// The noise of a loaded host has no bound, so the test checks only that the command reports it.
	"--tolerance 20% --only tiny-decode # the noise floor", "--tolerance 99% --only tiny-decode || test $? = 1", "1 case, 0 failed", "  Tolerance: ±99.00%",
	// Six requests of a loaded host may take twice the time of six others.
	"after/run.json --tolerance 90%", "after/run.json --tolerance 90% || test $? = 1",
	// A run that is 3 times slower than the baseline in three measurements passes, and pairs show one that is 4 times slower.
	// Load can add to the slow-down until no code would make it.
	"threshold: 10%", "threshold: 70%\n  remeasure: 2\n  implausible: 1000000", "repeats: 3", "repeats: 1", "limit 10 %", "limit 70 %",
	"decode=30%", "decode=75%",
	// The noise of a loaded host may leave one cell undecided.
	"FAIL: 2 of 2 cells are slower", " slower",
	// README.md begins in an empty folder, with the configuration of init.
	"accelgate init --yes\n", `accelgate init --yes && sed -i.old -e 's/threshold: 10%/threshold: 70%/' -e 's/min_effect: 2%/implausible: 1000000/' -e 's/repeats: 3/repeats: 1/' accelgate.yaml`+"\n")

// checkout is a folder with the stretched quickstart and nothing else.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	config, err := os.ReadFile(filepath.Join("..", "..", "accelgate.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	stretched := stretch.Replace(string(config))
	// 70 % less of a rate is 3.3 times the time, and of a time no limit allows more than twice.
	stretched = strings.Replace(stretched, "    cases: cases\n", "    cases: cases\n    limits: [{metric: total_time_s, change: 99%}]\n", 1)
	if !strings.Contains(stretched, "threshold: 70%") || !strings.Contains(stretched, "repeats: 1") || !strings.Contains(stretched, "change: 99%") {
		t.Fatal("accelgate.yaml no longer holds what the test stretches")
	}
	if err := os.WriteFile(filepath.Join(dir, "accelgate.yaml"), []byte(stretched), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "cases"), os.DirFS(filepath.Join("..", "..", "cases"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestReadme and TestDocs run the console blocks of all pages.
func TestReadme(t *testing.T) { page(t, "README.md", (*testing.T).TempDir) }

func TestDocs(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	below, err := filepath.Glob(filepath.Join("..", "..", "docs", "*", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(pages, below...) {
		name := strings.TrimPrefix(filepath.ToSlash(name), "../../docs/")
		t.Run(name, func(t *testing.T) { page(t, filepath.Join("docs", name), checkout) })
	}
}

var (
	sh = regexp.MustCompile("(?m)^```sh( |$)")
	// left are pages with fenced blocks of shell that no test runs, each with the reason.
	left = map[string]string{
		"docs/containers.md": "e2e/image follows the recipes",
		"docs/releases.md":   "scripts/release has the tests; gh asks GitHub",
	}
	// others are pages that need more than a shell.
	others = map[string]string{"docs/clusters.md": "e2e/clusters follows it on a Slurm of its own",
		"docs/first-pull-request.md": "e2e/workflows follows it with act"}
)

// measured is a command that measures a configuration of the page, whose gate selftest must prove; configuration is a block that holds one.
var (
	measured      = regexp.MustCompile(`^accelgate run .*--config (\S+)`)
	configuration = regexp.MustCompile("(?sm)^```yaml ([a-zA-Z0-9._/-]+)\n(.*?)^```$")
)

// noHealth leaves out the watch of a host that runs other tests at the same time.
const noHealth = "ACCELGATE_HEALTH=off"

// page runs a page's console blocks in a folder that folder makes, see [script.Page], and proves the gate of each configuration that it measures.
func page(t *testing.T, name string, folder func(*testing.T) string) {
	t.Helper()
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	slashed := filepath.ToSlash(name)
	if left[slashed] == "" && sh.Match(text) {
		t.Error("a block of sh is not run: make it a console block")
	}
	if others[slashed] != "" {
		return
	}
	proved := map[string]bool{} // configurations with a file's name
	for _, block := range configuration.FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(block[2], "\nsuites:") {
			proved[block[1]] = isElsewhere(name, block[1])
		}
	}
	script.Page(t, stretch.Replace(string(text)), folder, func(dir, command string) {
		if m := measured.FindStringSubmatch(command); m != nil && !proved[m[1]] && !strings.Contains(command, " # exit ") {
			proved[m[1]] = true
			script.Shell(t, "accelgate selftest --config "+m[1]+" --from .accelgate/run.json", dir, noHealth)
		}
	}, noHealth)
	for file, done := range proved {
		if !done {
			t.Errorf("no selftest proves the gate of %s: measure it on the page, or add it to elsewhere in selftest_test.go", file)
		}
	}
}

// TestQuickstart is the promise of the first page, on the whole suite: a warning
// without a baseline, green with one, red when slow or wrong.
func TestQuickstart(t *testing.T) {
	t.Parallel()
	dir := checkout(t)
	check := func(command string, wants ...string) {
		t.Helper()
		printed := script.Shell(t, command, dir, noHealth)
		for _, want := range wants {
			if !strings.Contains(printed, want) {
				t.Errorf("%s: no %q in\n%s", command, want, printed)
			}
		}
	}
	check("accelgate run", "speed was NOT judged", "18/18", "tiny-decode")
	check("accelgate baseline update --from .accelgate/run.json --reason first", "20 cells recorded")
	check("accelgate run", "PASS: 20 cells")
	check("accelgate run --only 'tiny__cpu__short_text__baseline' --ab . --inject-slowdown decode=75% # exit 1",
		"FAIL: 1 of 1 cell is slower\n", "decode_tps")
	check("accelgate run --only '*__short_text__*' --weight-seed 2 # exit 1", "FAIL: 6 of 6 cells give wrong answers")
	check("accelgate baseline update --from .accelgate/run.json --reason no --force # exit 2")
}
