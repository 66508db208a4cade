package setup

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/text"
)

// What init writes, from the root of the repository.
const (
	ConfigFile   = "accelgate.yaml"
	WorkflowFile = ".github/workflows/accelgate.yml"
	ignoreFile   = ".gitignore"
)

const ignored = ".accelgate/"

// File is a file to write.
type File struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// Files are the configuration and the workflow.
func (f *Found) Files(a Answers) ([]File, error) {
	configuration := f.configuration()
	if _, err := config.Parse(ConfigFile, []byte(configuration)); err != nil {
		return nil, fmt.Errorf("write %s: %w; leave that suite out, and report this as a defect of accelgate", ConfigFile, err)
	}
	return []File{{ConfigFile, configuration}, {WorkflowFile, f.workflow(a)}}, nil
}

const head = `# yaml-language-server: $schema=https://raw.githubusercontent.com/accelgate/accelgate/main/schema/accelgate.schema.json
# The benchmarks that gate pull requests. Every key: https://github.com/accelgate/accelgate/blob/main/docs/keys.md
version: 1

baselines: baselines # baselines/baseline-<host>.json, committed and reviewed like code

policy:
  threshold: 10% # a metric that is worse by more than this blocks, unless history or pairs judge it better
  min_effect: 2% # smaller changes never block

suites:
`

func (f *Found) configuration() string {
	var b strings.Builder
	b.WriteString(head)
	runs := f.runs()
	if len(runs) == 0 {
		b.WriteString(quickstart)
	}
	for _, s := range runs {
		b.WriteString(comment("  ", s.Title) + s.lines("  "))
	}
	for _, s := range f.Suites {
		if s.Missing != "" {
			b.WriteString(
				"\n" + comment("  ", s.Title+", not measured yet. To measure it, "+s.Missing+", and remove the # below.") + s.lines("  # "),
			)
		}
	}
	return b.String()
}

// lines are the suite as YAML.
func (s *Suite) lines(indent string) string {
	var b strings.Builder
	b.WriteString(indent + "- name: " + scalar(s.Name) + "\n")
	if s.Prefix != "" {
		b.WriteString(indent + "  prefix: " + scalar(s.Prefix) + " # of ids: other suites may have benchmarks of the same names\n")
	}
	for _, line := range s.Body {
		b.WriteString(indent + "  " + line + "\n")
	}
	return b.String()
}

const quickstart = `  # The embedded engine, a small transformer on the CPU, shows how a gate works. Replace it by a suite of your own:
  # kind exec for benchmarks of a harness, models for programs, endpoint for servers.
  - name: quickstart
    kind: models
    command: ["{accelgate}", engine, bench, --model, "{model}", --backend, "{backend}", --warmup, "0", --runs, "2", "{feature.args}"]
    repeats: 3 # processes for each cell
    models: [tiny]
    backends: [cpu]
    features:
      - {id: short_text, args: [--prompt, "Is it still right? Is it still fast?", --decode-tokens, "32"]}
    metrics:
      - {name: decode_tps, json: decode_tps, unit: tok/s, better: higher}
      - {name: prefill_tps, json: prefill_tps, unit: tok/s, better: higher}
    answer: {json: text}
    expect:
      - {when: {feature: short_text}, contains: [bjiz]} # correctness needs no baseline
`

// workflow calls the reusable workflow of this project.
func (f *Found) workflow(a Answers) string {
	hosts := a.Hosts
	if len(hosts) == 0 {
		hosts = []string{f.Host.Label}
	}
	labels, err := json.Marshal(hosts)
	if err != nil {
		panic(err) // strings have JSON
	}
	build := ""
	if commands := f.builds(); len(commands) > 0 {
		build = "\n      build: " + scalar(strings.Join(commands, " && "))
	}
	return fmt.Sprintf(workflow, scalar(f.Branch), labels, build)
}

// builds are the build commands of the suites that run, each once.
func (f *Found) builds() (commands []string) {
	for _, s := range f.runs() {
		if s.Build != "" && !strings.Contains(strings.Join(commands, "\n"), s.Build) {
			commands = append(commands, s.Build)
		}
	}
	return commands
}

const workflow = `name: accelgate
on:
  push: {branches: [%s]}
  pull_request:
  merge_group:
  workflow_dispatch:
    inputs:
      update_baseline: {type: boolean, description: Measure and open a pull request with new baselines}
      reason: {type: string, description: Why the baselines move}
      only: {type: string, description: Cells to measure; all if empty}
      pull_request: {type: string, description: Set by commands in comments}
      head_sha: {type: string, description: Set by commands in comments}
jobs:
  gate:
    permissions: {actions: read, contents: write, pull-requests: write, issues: read, checks: write}
    uses: accelgate/accelgate/.github/workflows/gate.yml@main
    with:
      hosts: '%s' # labels of self-hosted runners%s
      config: accelgate.yaml
`

// Summary returns what was found, a line each.
func (f *Found) Summary() (lines []string) {
	where := "no GitHub remote"
	if f.Remote != "" {
		where = f.Remote
	}
	lines = append(lines, fmt.Sprintf("repository: %s, default branch %s", where, f.Branch), "host: "+f.Host.Label+devices(f))
	for _, s := range f.Suites {
		line := "found: " + s.Title
		if s.Missing != "" {
			line += " (a comment in " + ConfigFile + "; to measure it, " + s.Missing + ")"
		}
		lines = append(lines, text.Line(line, 400))
		for _, note := range s.Notes[:min(len(s.Notes), maxNotes)] {
			lines = append(lines, "  "+text.Line(note, 400))
		}
		if more := len(s.Notes) - maxNotes; more > 0 {
			lines = append(lines, fmt.Sprintf("  and %d more, which accelgate plan lists", more))
		}
	}
	if len(f.runs()) == 0 {
		lines = append(lines, "found no benchmark that runs here: the quickstart suite measures accelgate's embedded engine")
	}
	return lines
}

const maxNotes = 10

func devices(f *Found) string {
	if len(f.Host.Accelerators) == 0 {
		return ", no accelerator"
	}
	return ", " + text.Plural(len(f.Host.Accelerators), "accelerator") + ", " + f.Host.Accelerators[0].Model
}
