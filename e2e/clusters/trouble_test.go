package clusters_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// engine logs what it was given. Its second call in shards 2, 4 and 6 never ends, so that the test finds these jobs
// in the middle of their cells. Two cells never share a GPU of a node.
const engine = `#!/bin/sh
gpu=$SLURMD_NODENAME-$CUDA_VISIBLE_DEVICES
[ -e "busy-$gpu" ] && kill -0 "$(cat "busy-$gpu")" 2>/dev/null && echo "$gpu" >> met
echo $$ > "busy-$gpu"
echo "$SLURM_ARRAY_TASK_ID $1 $2 ${BATCH:-0} $gpu" >> log
case "$SLURM_ARRAY_TASK_ID" in
  2|4|6)
    if [ "$(grep -c "^$SLURM_ARRAY_TASK_ID " log)" = 2 ]; then
      touch "reached-$SLURM_ARRAY_TASK_ID"
      while :; do sleep 0.1; done
    fi ;;
esac
echo "tokens/s: 1200"
`

const matrix = `version: 1
runners:
  - host: linux-cuda-h100
    runs_on: {slurm: [--partition=gpu]}
    shards: 8
suites:
  - name: serving
    kind: models
    command: [./engine, "{model}", "{feature}"]
    models: [llama, qwen]
    backends: [cuda]
    features: [prefill, decode, graphs, lora]
    sweeps: [{env: BATCH, values: [1, 2, 4, 8]}]
    devices: {nvidia: 1}
    metrics: [{name: tokens_per_s, regexp: 'tokens/s: (\d+)', better: higher}]
`

// TestTroubleThorough submits 40 cells as an array of 8, kills a job, requeues one and cancels one: there is one verdict,
// which names the shards that are missing and why. Those that are submitted again go on with their journals.
func TestTroubleThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	s := startSlurm(t)
	w := newWork(t, s, map[string]string{"accelgate.yaml": matrix, "engine": engine})
	w.run("accelgate plan --for slurm > job")
	w.run("cat job")
	id := strings.TrimSpace(w.run("sbatch --parsable job"))
	for _, shard := range []string{"2", "4", "6"} {
		s.await(t, "second cell of shard "+shard, func() bool { return w.exists("reached-" + shard) })
	}
	w.run("scancel --full --signal=KILL " + id + "_2")
	w.run("scontrol requeue " + id + "_4")
	w.run("scancel " + id + "_6")
	// Slurm would let the job wait for two minutes, and forbids a start in the second in which it ended.
	s.await(t, "requeued job", func() bool {
		out, err := s.command(t, w.dir, "squeue", "--noheader", "--format=%t", "--jobs="+id+"_4").Output()
		return err == nil && string(out) == "PD\n"
	})
	w.run("scontrol update JobId=" + id + "_4 StartTime=now+3")
	w.done("accelgate-linux-cuda-h100")

	report := w.fails(3, "accelgate report runs")
	for _, want := range []string{
		"NO EVIDENCE: shards 2/8, 6/8 of linux-cuda-h100 are missing", "shards 2/8 (job " + id + "_2: ", "6/8 (job " + id + "_6: CANCELLED)",
		"sbatch --wait --array=2,6 FILE --resume",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("no %q in\n%s", want, report)
		}
	}
	w.resumed("4", 5)

	w.run("sbatch --wait --array=2,6 job --resume")
	w.resumed("2", 5)
	w.resumed("6", 5)
	if report := w.run("accelgate report runs"); !strings.Contains(report, "40 cells ran") {
		t.Errorf("not all cells were judged:\n%s", report)
	}
	if w.exists("met") {
		t.Errorf("two cells shared a GPU:\n%s", w.read("met"))
	}
}

// TestHangingStepThorough has two steps of srun, whose tasks on two nodes ignore all signals that they may, run into their
// deadlines: nothing of them is left when the next cell starts. The srun of the second is stopped, so that it ends none.
func TestHangingStepThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	s := startSlurm(t)
	w := newWork(t, s, map[string]string{
		"accelgate.yaml": `version: 1
runners: [{host: linux-cuda-h100, runs_on: {slurm: [--partition=gpu]}}]
suites:
  - name: training
    kind: models
    command: [srun, ./step, "{feature}"]
    models: [m]
    backends: [cuda]
    features: [hangs, stops, works]
    devices: {nvidia: 2, nodes: 2}
    timeout: 5s
    metrics: [{name: tokens_per_s, regexp: 'tokens/s: (\d+)', better: higher}]
`,
		"step": `#!/bin/sh
trap '' TERM INT HUP
me=alive-$1-$SLURM_PROCID
if [ "$1" = works ]; then
  for other in alive-*; do kill -0 "$(cat "$other")" 2>/dev/null && echo "$other" >> left; done
  echo "tokens/s: $((1000 + SLURM_PROCID))"
  exit
fi
echo $$ > "$me"
if [ "$1$SLURM_PROCID" = stops3 ]; then
  while [ "$(ls alive-stops-* | wc -l)" -lt 4 ]; do sleep 0.1; done
  for file in $(grep -la -- "--job-name=$SLURM_JOB_NAME" /proc/[0-9]*/cmdline); do
    [ "$(tr '\0' '\n' < "$file" | head -n 1)" = srun ] && kill -STOP "$(echo "$file" | cut -d/ -f3)"
  done
  touch stopped
fi
while :; do sleep 1; done
`,
	})
	w.run("accelgate plan --for slurm > job && sbatch --wait job")
	report := w.fails(1, "accelgate report runs")
	for _, want := range []string{"m__cuda__hangs__baseline", "m__cuda__stops__baseline", "2 of 3 cells fail to run", "timed out"} {
		if !strings.Contains(report, want) {
			t.Errorf("no %q in\n%s", want, report)
		}
	}
	if run := w.read("runs/linux-cuda-h100/1-of-1/run.json"); !strings.Contains(run, "1000") || strings.Contains(run, "1001") {
		t.Errorf("the value of the first task should count:\n%s", run)
	}
	if w.exists("left") {
		t.Errorf("tasks that were there when the next cell began:\n%s", w.read("left"))
	}
	if n := len(w.glob("alive-*")); n != 8 || !w.exists("stopped") {
		t.Errorf("%d tasks began, want 2 on each of 2 nodes, twice; srun was stopped: %v", n, w.exists("stopped"))
	}
}

// work is a folder that the nodes share.
type work struct {
	*testing.T
	s   *slurm
	dir string
}

func newWork(t *testing.T, s *slurm, files map[string]string) *work {
	t.Helper()
	w := &work{t, s, t.TempDir()}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *work) run(line string) string { w.Helper(); return w.fails(0, line) }

// fails runs a command line and demands its exit code.
func (w *work) fails(code int, line string) string {
	w.Helper()
	cmd := w.s.command(w.T, w.dir, "sh", "-c", line)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		logs := ""
		for _, path := range w.glob("slurm-*.out") {
			logs += path + "\n" + w.read(path)
		}
		w.Fatalf("%s: %v, want exit code %d\n%s\n%s", line, err, code, out, logs)
	}
	return string(out)
}

// done waits until no job of the name is queued or runs.
func (w *work) done(name string) {
	w.Helper()
	w.s.await(w.T, "end of "+name, func() bool {
		out, err := w.s.command(w.T, w.dir, "squeue", "--noheader", "--name="+name).Output()
		return err == nil && len(out) == 0
	})
}

// resumed checks that a shard measured all of its cells and kept the one that was finished. The cell that was interrupted
// is measured again, and so is the next one, if accelgate lived for a moment longer than its program.
func (w *work) resumed(shard string, cells int) {
	w.Helper()
	calls, first, total := map[string]int{}, "", 0
	for line := range strings.Lines(w.read("log")) {
		if fields := strings.Fields(line); fields[0] == shard {
			id := fmt.Sprint(fields[1:4])
			first = cmp.Or(first, id)
			calls[id]++
			total++
		}
	}
	if more := total - len(calls); len(calls) != cells || calls[first] != 1 || more < 1 || more > 2 {
		w.Errorf("shard %s: %d calls for %d of %d cells, the first %s: %v", shard, total, len(calls), cells, first, calls)
	}
}

func (w *work) read(name string) string {
	w.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.Fatal(err)
	}
	return string(data)
}

func (w *work) exists(name string) bool {
	_, err := os.Stat(filepath.Join(w.dir, name))
	return err == nil
}

func (w *work) glob(pattern string) (names []string) {
	paths, _ := filepath.Glob(filepath.Join(w.dir, pattern))
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	return names
}
