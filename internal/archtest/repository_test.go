package archtest

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// manifest is what the tests need of an action.yml.
type manifest struct {
	Inputs map[string]struct {
		Description string `yaml:"description"`
		Default     string `yaml:"default"`
	} `yaml:"inputs"`
	Outputs map[string]struct {
		Description string `yaml:"description"`
		Value       string `yaml:"value"`
	} `yaml:"outputs"`
	Runs struct {
		Using string `yaml:"using"`
		Steps []struct {
			ID  string            `yaml:"id"`
			Env map[string]string `yaml:"env"`
			Run string            `yaml:"run"`
		} `yaml:"steps"`
	} `yaml:"runs"`
}

func load(t *testing.T, name string, into any) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return string(data)
}

// TestInputsOfBothActionsAreTheOnesRead: an input that the code reads and
// action.yml lacks can never be set, and the other way round it does nothing.
func TestInputsOfBothActionsAreTheOnesRead(t *testing.T) {
	var docker, native manifest
	load(t, "action.yml", &docker)
	load(t, "native/action.yml", &native)

	read := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?:Input\(|Bool\(|\{)"([a-z-]+)"`).FindAllStringSubmatch(content(t, "internal/action/inputs.go"), -1) {
		read[m[1]] = true
	}
	want := slices.Sorted(maps.Keys(read))
	if got := slices.Sorted(maps.Keys(docker.Inputs)); !slices.Equal(got, want) {
		t.Errorf("inputs of action.yml are\n%q, the code reads\n%q", got, want)
	}
	passed := map[string]bool{}
	for name := range native.Runs.Steps[len(native.Runs.Steps)-1].Env {
		passed[strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "INPUT_"), "_", "-"))] = true
	}
	if got := slices.Sorted(maps.Keys(passed)); !slices.Equal(got, want) {
		t.Errorf("native/action.yml passes on\n%q, the code reads\n%q", got, want)
	}
	for name, in := range docker.Inputs {
		if native.Inputs[name] != in {
			t.Errorf("input %s: the two actions describe it differently", name)
		}
	}
	for name, out := range docker.Outputs {
		if native.Outputs[name].Description != out.Description || !strings.Contains(native.Outputs[name].Value, ".outputs."+name+" ") {
			t.Errorf("output %s: the two actions describe it differently", name)
		}
	}
}

// TestOutputsAreTheOnesSet does the same for outputs.
func TestOutputsAreTheOnesSet(t *testing.T) {
	var docker manifest
	load(t, "action.yml", &docker)
	set := map[string]bool{}
	code := content(t, "internal/action/action.go") + content(t, "internal/action/show.go") + content(t, "internal/action/post.go") + content(t, "internal/action/publish.go") + content(t, "internal/action/checked.go")
	for _, m := range regexp.MustCompile(`\.output\("([a-z-]+)"`).FindAllStringSubmatch(code, -1) {
		set[m[1]] = true
	}
	if got, want := slices.Sorted(maps.Keys(docker.Outputs)), slices.Sorted(maps.Keys(set)); !slices.Equal(got, want) {
		t.Errorf("outputs of action.yml are %q, the code sets %q", got, want)
	}
}

func content(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var (
	uses   = regexp.MustCompile(`(?m)^\s*-?\s*uses:\s*(\S+)`)
	pinned = regexp.MustCompile(`^[^@]+@[0-9a-f]{40}$`)
	script = regexp.MustCompile(`\$\{\{[^}]*(github\.event|inputs\.|github\.head_ref|github\.ref_name)`)
)

// TestWorkflowsAreSafe holds what a reviewer would look for.
func TestWorkflowsAreSafe(t *testing.T) {
	names, err := filepath.Glob(filepath.Join("..", "..", ".github", "workflows", "*.yml"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	for _, name := range names {
		var w struct {
			On          any               `yaml:"on"`
			Permissions map[string]string `yaml:"permissions"`
			Jobs        map[string]struct {
				Timeout int `yaml:"timeout-minutes"`
				Steps   []struct {
					Uses string            `yaml:"uses"`
					Run  string            `yaml:"run"`
					With map[string]string `yaml:"with"`
				} `yaml:"steps"`
			} `yaml:"jobs"`
		}
		text := load(t, strings.TrimPrefix(filepath.ToSlash(name), "../../"), &w)
		if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s: top-level permissions are %v, want contents: read and more only where a job needs it", name, w.Permissions)
		}
		if strings.Contains(text, "pull_request_target") {
			t.Errorf("%s: pull_request_target gives a stranger's code the repository's secrets", name)
		}
		for _, m := range uses.FindAllStringSubmatch(text, -1) {
			if !strings.HasPrefix(m[1], "./") && !pinned.MatchString(m[1]) {
				t.Errorf("%s: %s is not pinned to a commit", name, m[1])
			}
		}
		for id, job := range w.Jobs {
			if job.Timeout == 0 {
				t.Errorf("%s: job %s has no timeout-minutes", name, id)
			}
			for _, step := range job.Steps {
				if script.MatchString(step.Run) {
					t.Errorf("%s: job %s puts an expression into a script; pass it through env", name, id)
				}
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != "false" {
					t.Errorf("%s: job %s leaves the token in the checkout; set persist-credentials: false", name, id)
				}
			}
		}
	}
}

// TestImageIsEmptyButForTheBinary: the last stage starts from nothing.
func TestImageIsEmptyButForTheBinary(t *testing.T) {
	text := content(t, "Dockerfile")
	stages := regexp.MustCompile(`(?m)^FROM (.*)$`).FindAllStringSubmatch(text, -1)
	if last := stages[len(stages)-1][1]; last != "scratch" {
		t.Errorf("the image is built from %q, want scratch", last)
	}
	for _, bad := range []string{":latest", "ADD ", "curl ", "wget "} {
		if strings.Contains(text, bad) {
			t.Errorf("Dockerfile has %q: what an image is made of must be pinned", bad)
		}
	}
}

// TestTheBaseJudges: the job that may write never checks out what a pull request
// brought, whatever started it, and the job that runs the pull request's code has
// no token.
func TestTheBaseJudges(t *testing.T) {
	type workflow struct {
		Jobs map[string]struct {
			If          string            `yaml:"if"`
			Permissions map[string]string `yaml:"permissions"`
			Steps       []struct {
				Uses string            `yaml:"uses"`
				With map[string]string `yaml:"with"`
			} `yaml:"steps"`
		} `yaml:"jobs"`
	}
	checkout := func(w workflow, job string) (ref string, found bool) {
		for _, step := range w.Jobs[job].Steps {
			if strings.HasPrefix(step.Uses, "actions/checkout@") {
				return strings.Join(strings.Fields(step.With["ref"]), " "), true
			}
		}
		return "", false
	}
	var gate, post, chat workflow
	load(t, ".github/workflows/accelgate.yml", &gate)
	load(t, ".github/workflows/post.yml", &post)
	load(t, ".github/workflows/chatops.yml", &chat)
	want := "${{ github.event.pull_request.base.sha || github.event.merge_group.base_sha || " +
		"inputs.pull_request && !inputs.update_baseline && github.event.repository.default_branch || github.sha }}"
	if ref, found := checkout(gate, "post"); !found || ref != want {
		t.Errorf("the job that judges checks out %q, want %q", ref, want)
	}
	for name, w := range map[string]struct {
		workflow
		job string
	}{"post.yml": {post, "post"}, "chatops.yml": {chat, "answer"}} {
		if ref, found := checkout(w.workflow, w.job); !found || ref != "" {
			t.Errorf("%s checks out %q, want the default branch, which is what it runs on", name, ref)
		}
	}
	measure := gate.Jobs["measure"]
	if len(measure.Permissions) != 0 || !strings.Contains(measure.If, "head.repo.full_name == github.repository") {
		t.Errorf("the job that measures has permissions %v, and runs if %q", measure.Permissions, measure.If)
	}
	for _, step := range measure.Steps {
		if token, set := step.With["github-token"]; step.Uses == "./" && (!set || token != "" || step.With["publish"] != "false") {
			t.Error("the job that measures is given a token, or publishes")
		}
	}
}
