package serving_test

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// fanned is a suite that shards send: 256 requests at once, 512 in all.
const fanned = `base_url: %s
request: {max_tokens: 2}
client_delay: 10s # this is about requests, on a host that does other things
load: {concurrency: [256], requests: 512, warmup: {requests: 256, duration: 0s}, drain: 20s}
`

// soon is how far in the future a test starts its shards, in seconds, in place of the minutes of the page: they read the server's clock
// until a second before the start.
const soon = 15

// TestFanOutThorough executes the three ways to start shards of examples/shards: the GitHub workflow by its jobs, matrix and outputs,
// the Kubernetes Job by its container's command for each completion index, and Slurm's commands with a stand-in for srun. What they leave
// is merged by their own commands to the run of one client. It takes about twenty seconds, because shards have a common start.
func TestFanOutThorough(t *testing.T) {
	testtier.Thorough(t)
	for name, run := range map[string]func(t *testing.T, dir string) (results string){"GitHub": onGitHub, "Kubernetes": onKubernetes, "Slurm": onSlurm} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite := fmt.Sprintf(fanned, startMock(t)) + map[string]string{
				"GitHub":     "dataset: {kind: random, n: 700, input: {dist: fixed, value: 6}}\n",
				"Kubernetes": "dataset: {kind: random, n: 700, input: {dist: fixed, value: 6}, conversation: {turns: {dist: uniform, min: 1, max: 3}, input: {dist: fixed, value: 3}}}\n",
				"Slurm":      "dataset: {kind: random, n: 20, length_unit: tokens, input: {dist: uniform, min: 20, max: 40}}\nmix: {base: 2, lora: 1}\n",
			}[name]
			dir := t.TempDir()
			write(t, filepath.Join(dir, "suite.yaml"), []byte(suite))
			merged, err := os.ReadFile(filepath.Join(run(t, dir), "run.json"))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{`"ok": 512`, `"clients": "4"`, `"concurrency": "256"`, "shard 4: "} {
				if !bytes.Contains(merged, []byte(want)) {
					t.Errorf("the merged run has no %s", want)
				}
			}
			if name == "Slurm" && !bytes.Contains(merged, []byte(`"metric": "ttft_p50_ms@lora"`)) {
				t.Error("the merged run has no metrics of a model")
			}
		})
	}
}

// startMock starts the programmable server and returns its address.
func startMock(t *testing.T) string {
	t.Helper()
	server := exec.CommandContext(t.Context(), "accelgate", "engine", "mock", "--listen", "127.0.0.1:0", "--ttft", "5ms")
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = server.Process.Kill(), server.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
}

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// shell runs a command line in a folder as a shell does that ends at the first failure.
func shell(t *testing.T, dir, line string, environ ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-e", "-c", line)
	c.Dir, c.Env = dir, append(os.Environ(), environ...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", line, err, out)
	}
}

// replaced is a text in which something that the page has is another for the test.
func replaced(t *testing.T, text, old, with string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("the block has no %q: %s", old, text)
	}
	return strings.ReplaceAll(text, old, with)
}

func unmarshal(t *testing.T, text string, to any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), to); err != nil {
		t.Fatal(err)
	}
}

// onSlurm has a stand-in for srun: it starts a command once for each task, with Slurm's variables.
func onSlurm(t *testing.T, dir string) string {
	bin := t.TempDir()
	write(t, filepath.Join(bin, "srun"), []byte(`#!/bin/sh -e
[ "$1" = --ntasks ]
SLURM_NTASKS=$2
export SLURM_NTASKS
shift 2
for SLURM_PROCID in $(seq 0 $((SLURM_NTASKS - 1))); do
  export SLURM_PROCID
  "$@" &
  tasks="$tasks $!"
done
for task in $tasks; do wait $task; done
`))
	if err := os.Chmod(filepath.Join(bin, "srun"), 0o755); err != nil {
		t.Fatal(err)
	}
	shell(t, dir, replaced(t, read(t, "examples/shards/slurm.sh"), "+ 60", fmt.Sprint("+ ", soon)), "PATH="+bin+":"+os.Getenv("PATH"))
	return filepath.Join(dir, "results")
}

// kubernetesJob is what the test executes of a Job.
type kubernetesJob struct {
	Kind string
	Spec struct {
		CompletionMode           string `yaml:"completionMode"`
		Completions, Parallelism int
		Template                 struct {
			Spec struct {
				Containers []struct {
					Command, Args []string
					Env           []struct{ Name, Value string }
					VolumeMounts  []struct {
						Name      string
						MountPath string `yaml:"mountPath"`
					} `yaml:"volumeMounts"`
				}
				Volumes []struct{ Name string }
			}
		}
	}
}

// onKubernetes starts the container's command for each completion index, with the folders of the volumes in place of the mounts.
func onKubernetes(t *testing.T, dir string) string {
	var job kubernetesJob
	text := read(t, "examples/shards/kubernetes.yml")
	unmarshal(t, text, &job)
	pod := job.Spec.Template.Spec
	if job.Kind != "Job" || job.Spec.CompletionMode != "Indexed" || job.Spec.Completions != job.Spec.Parallelism || len(pod.Containers) != 1 || len(pod.Volumes) != 2 {
		t.Fatalf("the Job is %+v", job)
	}
	c := pod.Containers[0]
	mounted := func(text string) string {
		for _, m := range c.VolumeMounts {
			text = strings.ReplaceAll(text, m.MountPath+"/", map[string]string{"suite": dir, "shards": filepath.Join(dir, "volume")}[m.Name]+"/")
		}
		return text
	}
	start := time.Now().Unix()
	var pods sync.WaitGroup
	for index := range job.Spec.Completions {
		environ := []string{"JOB_COMPLETION_INDEX=" + strconv.Itoa(index)}
		known := map[string]string{"JOB_COMPLETION_INDEX": strconv.Itoa(index)}
		for _, v := range c.Env {
			if v.Name == "START" {
				v.Value = replaced(t, v.Value, "1770000000", fmt.Sprint(start+soon))
			}
			environ, known[v.Name] = append(environ, v.Name+"="+v.Value), v.Value
		}
		var args []string
		for _, a := range append(c.Command, c.Args...) {
			args = append(args, mounted(expandedByKubelet(a, known)))
		}
		pods.Go(func() {
			p := exec.CommandContext(t.Context(), args[0], args[1:]...)
			p.Dir, p.Env = t.TempDir(), append(os.Environ(), environ...)
			if out, err := p.CombinedOutput(); err != nil {
				t.Errorf("%q: %v\n%s", args, err, out)
			}
		})
	}
	pods.Wait()
	shell(t, dir, mounted(regexp.MustCompile("accelgate bench merge .*").FindString(text)))
	return filepath.Join(dir, "volume", "merged")
}

// expandedByKubelet replaces $(NAME) in an argument, where the pod has such a variable, as the kubelet does. Other names stay, such as
// the arithmetic of a shell.
func expandedByKubelet(arg string, known map[string]string) string {
	return regexp.MustCompile(`\$\(([^)]*)\)`).ReplaceAllStringFunc(arg, func(text string) string {
		if v, ok := known[text[2:len(text)-1]]; ok {
			return v
		}
		return text
	})
}

// workflow is what the test executes of a GitHub workflow.
type workflow struct {
	Jobs map[string]struct {
		Needs    string
		Outputs  map[string]string
		Strategy struct{ Matrix map[string][]int }
		Steps    []step
	}
}

type step struct {
	ID, Uses, Run string
	With          map[string]string
}

var expression = regexp.MustCompile(`\$\{\{ ([a-z.]+) \}\}`)

// evaluated replaces the expressions of a text by what they name.
func evaluated(t *testing.T, text string, values map[string]string) string {
	t.Helper()
	return expression.ReplaceAllStringFunc(text, func(e string) string {
		v, ok := values[expression.FindStringSubmatch(e)[1]]
		if !ok {
			t.Fatalf("%s is not known: %v", e, values)
		}
		return v
	})
}

// onGitHub runs the jobs in the order of their needs, the shards of the matrix at once, with stand-ins for the actions that move files.
func onGitHub(t *testing.T, dir string) string {
	var w workflow
	unmarshal(t, read(t, "examples/shards/github.yml"), &w)
	values := map[string]string{}
	r := runner{t: t, checkout: dir, artifacts: t.TempDir()}
	for _, name := range []string{"start", "shard", "merge"} {
		j := w.Jobs[name]
		if j.Needs != map[string]string{"shard": "start", "merge": "shard"}[name] {
			t.Fatalf("job %s needs %q", name, j.Needs)
		}
		if matrix := j.Strategy.Matrix["shard"]; matrix != nil {
			var jobs sync.WaitGroup
			for _, shard := range matrix {
				one := r
				one.dir, one.values = t.TempDir(), maps.Clone(values)
				one.values["matrix.shard"] = strconv.Itoa(shard)
				jobs.Go(func() { one.run(j.Steps) })
			}
			jobs.Wait()
			continue
		}
		r.dir, r.values = t.TempDir(), maps.Clone(values)
		r.run(j.Steps)
		for key, text := range j.Outputs {
			values["needs."+name+".outputs."+key] = evaluated(t, text, r.values)
		}
	}
	return filepath.Join(r.dir, "results")
}

// runner runs the steps of one job in a folder of its own.
type runner struct {
	t                        *testing.T
	checkout, artifacts, dir string
	values                   map[string]string // of expressions
}

func (r *runner) run(steps []step) {
	for _, s := range steps {
		with := func(input string) string { return evaluated(r.t, s.With[input], r.values) }
		switch action, _, _ := strings.Cut(s.Uses, "@"); action {
		case "":
			r.command(s)
		case "actions/checkout":
			copied(r.t, r.checkout, r.dir)
		case "actions/upload-artifact":
			copied(r.t, filepath.Join(r.dir, with("path")), filepath.Join(r.artifacts, with("name")))
		case "actions/download-artifact":
			entries, err := os.ReadDir(r.artifacts)
			if err != nil {
				r.t.Error(err)
			}
			for _, e := range entries {
				if ok, _ := path.Match(with("pattern"), e.Name()); ok {
					copied(r.t, filepath.Join(r.artifacts, e.Name()), filepath.Join(r.dir, with("path"), e.Name()))
				}
			}
		default:
			r.t.Errorf("nothing stands in for the action %q", s.Uses)
		}
	}
}

// command runs a step's own command and keeps its outputs.
func (r *runner) command(s step) {
	file := filepath.Join(r.dir, "output")
	shell(r.t, r.dir, strings.ReplaceAll(evaluated(r.t, s.Run, r.values), "+ 600", fmt.Sprint("+ ", soon)), "GITHUB_OUTPUT="+file)
	set, _ := os.ReadFile(file)
	if key, value, ok := strings.Cut(strings.TrimSpace(string(set)), "="); ok {
		r.values["steps."+s.ID+".outputs."+key] = value
	}
}

func copied(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Error(err)
	}
}
