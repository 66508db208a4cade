package archtest

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

var (
	uses      = regexp.MustCompile(`(?m)^\s*-?\s*uses:\s*(\S+)`)
	pinned    = regexp.MustCompile(`^[^@]+@[0-9a-f]{40}$`)
	ours      = regexp.MustCompile(`^accelgate/accelgate(/native|/site)?@main$`) // scripts/release pins it
	yamlBlock = regexp.MustCompile("(?sm)^```yaml[^\n]*\n(.*?)^```$")
	address   = regexp.MustCompile(`://[^\s"'/]*\$[^\s"'/]*@`)
	script    = regexp.MustCompile(`\$\{\{[^}]*(github\.event|inputs\.|github\.head_ref|github\.ref_name)`)
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
				Timeout     any               `yaml:"timeout-minutes"`
				Uses        string            `yaml:"uses"`
				Environment any               `yaml:"environment"`
				Permissions map[string]string `yaml:"permissions"`
				Steps       []struct {
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
			if !strings.HasPrefix(m[1], "./") && !pinned.MatchString(m[1]) && !ours.MatchString(m[1]) {
				t.Errorf("%s: %s is not pinned to a commit", name, m[1])
			}
		}
		for id, job := range w.Jobs {
			if job.Timeout == nil && job.Uses == "" {
				t.Errorf("%s: job %s has no timeout-minutes", name, id)
			}
			if writes := slices.Contains(slices.Collect(maps.Values(job.Permissions)), "write"); writes && strings.HasSuffix(name, "release.yml") && job.Environment != "release" {
				t.Errorf("%s: job %s writes without the approval of the environment release", name, id)
			}
			for _, step := range job.Steps {
				if script.MatchString(step.Run) {
					t.Errorf("%s: job %s puts an expression into a script; pass it through env", name, id)
				}
				if address.MatchString(step.Run) {
					t.Errorf("%s: job %s puts a secret into an address, which other processes see among the arguments", name, id)
				}
				if strings.HasPrefix(step.Uses, "actions/setup-go@") && step.With["cache"] != "false" {
					t.Errorf("%s: job %s builds with a cache that other runs write; set cache: false", name, id)
				}
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != "false" {
					t.Errorf("%s: job %s leaves the token in the checkout; set persist-credentials: false", name, id)
				}
			}
		}
	}
}

// TestDispatchInputs: the docs and the example workflows show each input of a dispatch that gate.yml reads.
func TestDispatchInputs(t *testing.T) {
	var docs strings.Builder
	for _, page := range []string{"docs/github.md", "examples/workflows/accelgate.yml", "examples/workflows/accelgate-monorepo.yml"} {
		data, err := os.ReadFile(filepath.Join("..", "..", page))
		if err != nil {
			t.Fatal(err)
		}
		docs.Write(data)
	}
	var gate any
	inputs := regexp.MustCompile(`github\.event\.inputs\.(\w+)`)
	for _, m := range inputs.FindAllStringSubmatch(load(t, ".github/workflows/gate.yml", &gate), -1) {
		if !strings.Contains(docs.String(), m[1]+": {type: ") {
			t.Errorf("gate.yml reads the input %q, which no page shows", m[1])
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
	load(t, ".github/workflows/gate.yml", &gate)
	load(t, ".github/workflows/forks.yml", &post)
	load(t, ".github/workflows/chat.yml", &chat)
	event := "github.event.pull_request.base.sha || github.event.merge_group.base_sha || "
	for _, c := range []struct {
		file string
		workflow
		job, ref string
	}{
		{"gate.yml", gate, "plan", "${{ " + event + "steps.base.outputs.base || github.sha }}"},
		{"gate.yml", gate, "post", "${{ " + event + "needs.plan.outputs.base || " +
			"github.event.inputs.pull_request && github.event.inputs.update_baseline != 'true' && github.event.repository.default_branch || github.sha }}"},
		{"forks.yml", post, "post", "${{ steps.base.outputs.base }}"},
		{"chat.yml", chat, "answer", ""}, // the default branch, which is what it runs on
	} {
		if ref, found := checkout(c.workflow, c.job); !found || ref != c.ref {
			t.Errorf("%s: the job %s checks out %q, want %q", c.file, c.job, ref, c.ref)
		}
	}
	for scope, level := range gate.Jobs["plan"].Permissions {
		if level != "read" {
			t.Errorf("the job that finds the hosts has the permission %s: %s", scope, level)
		}
	}
	measure := gate.Jobs["measure"]
	if len(measure.Permissions) != 1 || measure.Permissions["contents"] != "read" || !strings.Contains(measure.If, "head.repo.full_name == github.repository") {
		t.Errorf("the job that measures has permissions %v, and runs if %q", measure.Permissions, measure.If)
	}
	for _, step := range measure.Steps {
		if token, set := step.With["github-token"]; strings.HasPrefix(step.Uses, "accelgate/") && (!set || token != "" || step.With["publish"] != "false") {
			t.Error("the job that measures is given a token, or publishes")
		}
	}
}

// caller is a workflow that calls one of ours.
type caller struct {
	Jobs map[string]struct {
		Permissions map[string]string `yaml:"permissions"`
		Uses        string            `yaml:"uses"`
		With        map[string]string `yaml:"with"`
	} `yaml:"jobs"`
}

// TestCallersGiveWhatIsCalled: a caller's inputs exist, it gives all permissions that the called jobs ask for, and no
// more, and it has at most 20 lines.
func TestCallersGiveWhatIsCalled(t *testing.T) {
	callers := map[string]string{}
	for _, name := range append([]string{".github/workflows/accelgate.yml", ".github/workflows/post.yml", ".github/workflows/chatops.yml"}, exampleWorkflows(t)...) {
		if text := content(t, name); !strings.Contains(text, "\n    steps:\n") {
			callers[name] = text
		}
	}
	for i, m := range yamlBlock.FindAllStringSubmatch(content(t, "docs/recipes.md"), -1) {
		if strings.Contains(m[1], "/.github/workflows/") {
			callers[fmt.Sprintf("docs/recipes.md, block %d", i)] = m[1]
		}
	}
	if len(callers) < 9 {
		t.Errorf("%d workflows call ours, want 9 or more", len(callers))
	}
	for name, text := range callers {
		checkCaller(t, name, text)
	}
}

// exampleWorkflows returns the files of examples/workflows.
func exampleWorkflows(t *testing.T) (names []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("..", "..", "examples", "workflows", "*.yml"))
	if err != nil || len(found) < 7 {
		t.Fatalf("%d workflows, %v", len(found), err)
	}
	for _, name := range found {
		names = append(names, "examples/workflows/"+filepath.Base(name))
	}
	return names
}

func checkCaller(t *testing.T, name, text string) {
	t.Helper()
	var c caller
	if err := yaml.Unmarshal([]byte(text), &c); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if lines := strings.Count(text, "\n"); lines > 20 {
		t.Errorf("%s has %d lines, want 20 at most", name, lines)
	}
	for id, job := range c.Jobs {
		var called struct {
			On struct {
				Call struct {
					Inputs map[string]any `yaml:"inputs"`
				} `yaml:"workflow_call"`
			} `yaml:"on"`
			Jobs map[string]struct {
				Permissions map[string]string `yaml:"permissions"`
			} `yaml:"jobs"`
		}
		file, _, _ := strings.Cut(job.Uses, "@")
		load(t, ".github/workflows/"+path.Base(file), &called)
		for input := range job.With {
			if _, ok := called.On.Call.Inputs[input]; !ok {
				t.Errorf("%s: job %s gives the input %s, which %s lacks", name, id, input, path.Base(file))
			}
		}
		needed := map[string]string{}
		for _, j := range called.Jobs {
			for scope, level := range j.Permissions {
				needed[scope] = max(needed[scope], level) // "write" is after "read"
			}
		}
		if !maps.Equal(job.Permissions, needed) {
			t.Errorf("%s: job %s has permissions %v, the called jobs ask for %v", name, id, job.Permissions, needed)
		}
	}
}

// TestDocsPinActions: what users copy names the actions of others by their commits.
func TestDocsPinActions(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	workflows, err := filepath.Glob(filepath.Join("..", "..", "examples", "*", "*.yml"))
	if err != nil || len(workflows) < 6 {
		t.Fatalf("%d examples of workflows: %v", len(workflows), err)
	}
	for _, page := range slices.Concat(pages, workflows, []string{filepath.Join("..", "..", "README.md")}) {
		text := content(t, strings.TrimPrefix(filepath.ToSlash(page), "../../"))
		if filepath.Ext(page) == ".yml" {
			text = "```yaml\n" + text + "```\n"
		}
		for _, block := range yamlBlock.FindAllStringSubmatch(text, -1) {
			for _, m := range uses.FindAllStringSubmatch(block[1], -1) {
				if !strings.HasPrefix(m[1], "./") && !strings.HasPrefix(m[1], "accelgate/") && !pinned.MatchString(m[1]) {
					t.Errorf("%s: %s is not pinned to a commit", filepath.Base(page), m[1])
				}
			}
		}
	}
}

// TestExamplesUseOurInputs: the steps of an example's own workflow give inputs that action.yml has, and no token to a checkout.
func TestExamplesUseOurInputs(t *testing.T) {
	var action manifest
	load(t, "action.yml", &action)
	steps := 0
	for _, name := range exampleWorkflows(t) {
		var w struct {
			Jobs map[string]struct {
				Steps []struct {
					Uses string            `yaml:"uses"`
					With map[string]string `yaml:"with"`
				} `yaml:"steps"`
			} `yaml:"jobs"`
		}
		load(t, name, &w)
		for _, job := range w.Jobs {
			for _, step := range job.Steps {
				steps++
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != "false" {
					t.Errorf("%s leaves the token in the checkout; set persist-credentials: false", step.Uses)
				}
				for input := range step.With {
					if _, ok := action.Inputs[input]; !ok && strings.HasPrefix(step.Uses, "accelgate/") {
						t.Errorf("%s is given %s, which is no input", step.Uses, input)
					}
				}
			}
		}
	}
	if steps == 0 {
		t.Error("examples/workflows has no workflow with steps")
	}
}

// TestCalledWorkflowsNameNoRepository: a folder of the checkout and the label of this project's host stand in this
// project's own callers alone.
func TestCalledWorkflowsNameNoRepository(t *testing.T) {
	for _, name := range []string{"gate.yml", "forks.yml", "chat.yml", "pages.yml"} {
		text := content(t, ".github/workflows/"+name)
		for _, own := range []string{"uses: ./", "accelgate-cpu"} {
			if strings.Contains(text, own) {
				t.Errorf("%s has %q, which other repositories lack", name, own)
			}
		}
	}
}

// TestDocsShowTheCallers: docs/github.md shows the first file of examples/workflows, the pages lead to the others, and docs/github.md has
// a row for each input.
func TestDocsShowTheCallers(t *testing.T) {
	page := content(t, "docs/github.md")
	if !strings.Contains(page, "```yaml\n"+content(t, "examples/workflows/accelgate.yml")+"```") {
		t.Error("docs/github.md does not show examples/workflows/accelgate.yml as it is")
	}
	shown := page + content(t, "docs/dashboard.md") + content(t, "docs/recipes.md") + content(t, "docs/clusters.md")
	for _, name := range exampleWorkflows(t) {
		if name != "examples/workflows/accelgate.yml" && !strings.Contains(shown, "](../"+name+")") {
			t.Errorf("no page has a link to %s", name)
		}
	}
	_, inputs, _ := strings.Cut(content(t, ".github/workflows/gate.yml"), "    inputs:\n")
	inputs, _, _ = strings.Cut(inputs, "    secrets:\n")
	rows := regexp.MustCompile(`(?m)^      ([a-z-]+):\n        description: (.*)$`).FindAllStringSubmatch(inputs, -1)
	if len(rows) < 10 {
		t.Errorf("gate.yml has %d inputs, want 10 or more", len(rows))
	}
	for _, m := range rows {
		if !regexp.MustCompile("(?m)^\\| `" + m[1] + "` \\| .* \\| " + regexp.QuoteMeta(m[2]) + " \\|$").MatchString(page) {
			t.Errorf("docs/github.md has no row for the input %s with its description", m[1])
		}
	}
}
