package clusters_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	batch "k8s.io/api/batch/v1"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

const kube = `version: 1
runners:
  - host: linux-cuda-h100
    runs_on: {kubernetes: {image: "registry.example.org/engine:1"}}
    shards: 3
suites:
  - name: serving
    kind: models
    command: [sh, ./engine, "{feature}"]
    models: [llama, qwen]
    backends: [cuda]
    features: [prefill, decode, lora]
    devices: {nvidia: 2, same_node: true}
    metrics: [{name: tokens_per_s, regexp: 'tokens/s: (\d+)', better: higher}]
`

// manifest returns what plan prints for Kubernetes, as the API reads it: a key that it does not have fails.
func manifest(t *testing.T, dir string, args ...string) *batch.Job {
	t.Helper()
	cmd := exec.Command("accelgate", append([]string{"plan", "--for", "kubernetes"}, args...)...)
	var said bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &said
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &said)
	}
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	var job batch.Job
	if err := strict.Decode(&job); err != nil {
		t.Fatalf("the API of Kubernetes would refuse it: %v\n%s", err, text)
	}
	return &job
}

func TestManifestAsksForWhatCellsNeed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "accelgate.yaml", kube)
	job := manifest(t, dir)
	pod := job.Spec.Template.Spec
	if job.APIVersion != "batch/v1" || job.Kind != "Job" || *job.Spec.CompletionMode != batch.IndexedCompletion || *job.Spec.Completions != 3 {
		t.Errorf("not an indexed Job of 3: %+v", job)
	}
	if n := pod.Containers[0].Resources.Limits["nvidia.com/gpu"]; n.Value() != 2 {
		t.Errorf("it asks for %s GPUs, want 2", n.String())
	}
	if pod.NodeSelector["accelgate/host"] != "linux-cuda-h100" || pod.Containers[0].Image != "registry.example.org/engine:1" {
		t.Errorf("nodes %v, image %s", pod.NodeSelector, pod.Containers[0].Image)
	}
	if pod.Affinity == nil || len(pod.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) != 1 {
		t.Error("devices of one NUMA node need a node that no other shard is on")
	}
	if pod.RestartPolicy != "Never" || *job.Spec.BackoffLimitPerIndex < 1 {
		t.Errorf("a pod that fails is not replaced: %s, %v", pod.RestartPolicy, job.Spec.BackoffLimitPerIndex)
	}
}

// TestManifestWithTimes: the times of earlier runs choose the number of shards and bound the pods. The names of hosts
// become names of Jobs, and flags of run stand in the command.
func TestManifestWithTimes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "accelgate.yaml", strings.Replace(strings.Replace(kube, "version: 1", "version: 1\nname: nightly-1", 1), "    shards: 3\n", "", 1))
	var results []map[string]any
	for _, model := range []string{"llama", "qwen"} {
		for _, feature := range []string{"prefill", "decode", "lora"} {
			results = append(results, map[string]any{"cell": map[string]any{"id": model + "__cuda__" + feature + "__baseline"}, "outcome": "passed", "wall_ms": 600_000})
		}
	}
	run, _ := json.Marshal(map[string]any{"schema": 1, "tool": "t", "host": map[string]any{"label": "linux-cuda-h100"}, "started": "2026-01-01T00:00:00Z", "results": results,
		"metrics": []any{map[string]any{"name": "tokens_per_s", "better": "higher"}}})
	write(t, dir, "earlier/run.json", string(run))
	job := manifest(t, dir, "--durations", "earlier", "--shards", "auto", "--max-minutes", "20", "--", "--repeats", "5")
	if n := *job.Spec.Completions; n != 3 {
		t.Errorf("%d shards, want 3: an hour in parts of 20 minutes", n)
	}
	// Twice the 20 minutes, ten more, and five for the end of the pod.
	if s := job.Spec.Template.Spec.ActiveDeadlineSeconds; s == nil || *s != 55*60 {
		t.Errorf("the pods may take %v s, want %d", s, 55*60)
	}
	if command := job.Spec.Template.Spec.Containers[0].Args[0]; !strings.Contains(command, "--repeats 5") || !strings.Contains(command, "--budget 50m") {
		t.Errorf("flags are missing in\n%s", command)
	}
	if job.Name != "accelgate-nightly-1-linux-cuda-h100" {
		t.Errorf("name %s", job.Name)
	}
}

// TestPods runs the containers' command for each index, one of them twice: the first is killed between its cells, as by
// an eviction, and the second goes on.
func TestPods(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the command is for sh")
	}
	dir, volume := t.TempDir(), t.TempDir()
	write(t, dir, "accelgate.yaml", strings.Replace(kube, "devices: {nvidia: 2, same_node: true}", "devices: {nvidia: 2}", 1))
	write(t, dir, "engine", `echo "$JOB_COMPLETION_INDEX" >> log
if [ "$JOB_COMPLETION_INDEX $(grep -c 1 log)" = "1 2" ]; then kill -9 $PPID; sleep 1; fi
echo "tokens/s: 1200"
`)
	write(t, dir, "bin/nvidia-smi", nvidiaSMI)
	container := manifest(t, dir).Spec.Template.Spec.Containers[0]
	mount := container.VolumeMounts[0].MountPath
	pod := func(index int, device string) error {
		args := append(append([]string{}, container.Command...), container.Args...)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"), "ACCELGATE_HEALTH=off",
			"ACCELGATE_LEASES="+filepath.Join(dir, "leases-"+device), "HOSTNAME=pod-"+device,
			"KUBERNETES_SERVICE_HOST=10.0.0.1", "JOB_COMPLETION_INDEX="+strconv.Itoa(index), "JOB_UID=0b6d")
		for _, v := range container.Env {
			if v.ValueFrom == nil {
				cmd.Env = append(cmd.Env, v.Name+"="+strings.ReplaceAll(v.Value, mount, volume))
			}
		}
		cmd.Args[len(cmd.Args)-1] = strings.ReplaceAll(args[len(args)-1], mount+"/", volume+"/")
		out, err := cmd.CombinedOutput()
		t.Logf("pod of index %d: %v\n%s", index, err, out)
		return err
	}
	for index := range 3 {
		if err := pod(index, "a"); (err != nil) != (index == 1) {
			t.Errorf("index %d: %v", index, err)
		}
	}
	if err := pod(1, "b"); err != nil {
		t.Error(err)
	}
	if log, err := os.ReadFile(filepath.Join(dir, "log")); err != nil || strings.Count(string(log), "1\n") != 3 {
		t.Errorf("want three calls for index 1, of which one was killed: %v\n%s", err, log)
	}
	cmd := exec.Command("accelgate", "report", volume)
	cmd.Dir = dir
	if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), "6 cells ran") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestManifestIsKnownToKubectl has kubectl itself read a manifest, without a server.
func TestManifestIsKnownToKubectlThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("kubectl is not installed; the types of its API are tested")
	}
	dir := t.TempDir()
	write(t, dir, "accelgate.yaml", kube)
	cmd := exec.Command("sh", "-c", "accelgate plan --for kubernetes > job.yaml && kubectl label --local -f job.yaml a=b -o name")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "job.batch/accelgate-linux-cuda-h100") {
		t.Errorf("%v\n%s", err, out)
	}
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}
