package pages_test

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/accelgate/accelgate/e2e/script"
)

// speed is a suite whose speed stands in a file.
const speed = `version: 1
host: {health: off}
suites:
  - name: s
    kind: models
    command: [cat, speed.json]
    models: [m]
    backends: [{id: cuda}]
    features: [f]
    metrics: [{name: tps, json: tps, better: higher}]
`

// groovyStep is what a pipeline of Jenkins gives to the shell.
var groovyStep = regexp.MustCompile(`steps \{ sh '([^']*)' \}`)

// TestOtherSystems runs what the files of examples/ci give to the shells of GitLab, Buildkite, Jenkins and Slurm, for a change
// that is slower and for one that is not. The systems themselves are not here.
func TestOtherSystems(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the recipes are for a Unix shell")
	}
	for name, system := range map[string]struct {
		file, variables string
		command         func(*testing.T, string) string
	}{
		"gitlab": {"gitlab-ci.yml", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main", func(t *testing.T, text string) string {
			var file struct {
				Job struct{ Script []string } `yaml:"accelgate"`
			}
			decode(t, text, &file)
			return strings.Join(file.Job.Script, "\n")
		}},
		"buildkite": {"buildkite.yml", "BUILDKITE_PULL_REQUEST_BASE_BRANCH=main", func(t *testing.T, text string) string {
			var file struct{ Steps []struct{ Command string } }
			decode(t, text, &file)
			return file.Steps[0].Command
		}},
		"jenkins": {"Jenkinsfile", "CHANGE_TARGET=main", func(t *testing.T, text string) string { return groovyStep.FindStringSubmatch(text)[1] }},
		"slurm":   {"gate.sbatch", "SLURM_JOB_ID=", func(_ *testing.T, text string) string { return text }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := change(t)
			command := system.command(t, ciFile(t, system.file))
			for _, c := range []struct{ speed, code, word string }{{"40", "", "Passed"}, {"20", " # exit 1", "Failed"}} {
				commit(t, dir, "speed.json", `{"tps": `+c.speed+"}\n")
				script.Shell(t, strings.TrimSpace(command)+c.code, dir,
					noHealth, system.variables, "ACCELGATE_HOST_LABEL=linux-cuda-h100", "CI=true")
				report, err := os.ReadFile(filepath.Join(dir, "results", "report.md"))
				if err != nil || !strings.Contains(string(report), c.word) {
					t.Errorf("speed %s: the report lacks %q: %v\n%s", c.speed, c.word, err, report)
				}
				if failed := failures(t, filepath.Join(dir, "results", "junit.xml")); failed != (c.code != "") {
					t.Errorf("speed %s: JUnit has a failure: %v", c.speed, failed)
				}
			}
			if gone := strings.Replace(system.variables, "=main", "=gone", 1); gone != system.variables { // else nothing is measured in pairs
				script.Shell(t, strings.TrimSpace(command)+" # exit 3", dir, noHealth, gone, "CI=true")
			}
		})
	}
}

// ciFile returns a file of examples/ci.
func ciFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "ci", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
}

// change is a checkout of a branch whose main, with a baseline, is on another host.
func change(t *testing.T) (dir string) {
	t.Helper()
	origin := filepath.Join(t.TempDir(), "origin.git")
	dir = filepath.Join(t.TempDir(), "work")
	git(t, "", "init", "-q", "--bare", "-b", "main", origin)
	git(t, "", "clone", "-q", origin, dir)
	put(t, filepath.Join(dir, "accelgate.yaml"), speed, 0o644)
	put(t, filepath.Join(dir, "speed.json"), "{\"tps\": 40}\n", 0o644)
	put(t, filepath.Join(dir, "ci", "gate.sh"), ciFile(t, "gate.sh"), 0o644)
	const first = "accelgate run --ab off && accelgate baseline update --reason first"
	script.Shell(t, first, dir, noHealth, "ACCELGATE_HOST_LABEL=linux-cuda-h100")
	commit(t, dir, "first", "")
	git(t, dir, "push", "-q", "origin", "HEAD:main")
	return dir
}

// commit writes a file and commits everything.
func commit(t *testing.T, dir, name, content string) {
	t.Helper()
	put(t, filepath.Join(dir, name), content, 0o644)
	git(t, dir, "add", "--all")
	git(t, dir, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", name)
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// failures reports whether a JUnit file, which must be well-formed, has a failure.
func failures(t *testing.T, path string) bool {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Cases []struct {
			Failure *struct{} `xml:"failure"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal(data, &suites); err != nil || len(suites.Cases) == 0 {
		t.Fatalf("%v, %d cases in\n%s", err, len(suites.Cases), data)
	}
	return suites.Cases[0].Failure != nil
}
