//go:build linux

package clusters_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// fleet is a matrix with generated times: lognormal, so that a few cells take many times the median.
type fleet struct {
	*testing.T
	dir   string
	hosts []string
	times map[string]time.Duration // by the cell
}

func newFleet(t *testing.T, hosts, shards, models, features, values int) *fleet {
	t.Helper()
	f := &fleet{T: t, dir: t.TempDir(), times: map[string]time.Duration{}}
	var b strings.Builder
	b.WriteString("version: 1\nrunners:\n")
	for i := range hosts {
		f.hosts = append(f.hosts, fmt.Sprintf("linux-cuda-h%03d", i))
		fmt.Fprintf(&b, "  - {host: %s, runs_on: {kubernetes: {image: i}}, shards: %d}\n", f.hosts[i], shards)
	}
	names := func(prefix string, n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprintf("%s%d", prefix, i))
		}
		return list
	}
	fmt.Fprintf(&b, "suites:\n  - name: s\n    kind: models\n    command: [sh, ./engine]\n    models: [%s]\n    backends: [cuda]\n    features: [%s]\n"+
		"    sweeps: [{env: V, values: [%s]}]\n    metrics: [{name: tps, regexp: 'tps: (.*)', better: higher}]\n",
		strings.Join(names("m", models), ", "), strings.Join(names("f", features), ", "), strings.Join(names("", values), ", "))
	write(t, f.dir, "accelgate.yaml", b.String())
	random := rand.New(rand.NewPCG(7, 7))
	for id := range strings.Lines(f.run(true, "plan", "--list", "--host-label", f.hosts[0])) {
		f.times[strings.TrimSpace(id)] = time.Duration(math.Exp(random.NormFloat64()) * float64(30*time.Second))
	}
	return f
}

// run runs accelgate and logs what it took.
func (f *fleet) run(pass bool, args ...string) string {
	f.Helper()
	cmd := exec.Command("accelgate", args...)
	cmd.Dir = f.dir
	start := time.Now()
	out, err := cmd.Output()
	wall := time.Since(start)
	if exit, ok := err.(*exec.ExitError); ok && pass {
		f.Fatalf("%v\n%s", err, exit.Stderr)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		f.Fatal("this system reports no memory")
	}
	f.Logf("accelgate %s: %v, %v of processors, %d MB", strings.Join(args, " "), wall.Round(time.Millisecond),
		(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(time.Millisecond), usage.Maxrss>>10)
	if mb := usage.Maxrss >> 10; mb > 500 {
		f.Errorf("accelgate %s took %d MB, want 500 at most", args[0], mb)
	}
	return string(out)
}

// document is a run of these cells; one in fifty failed where failures is true.
func (f *fleet) document(host, shard string, cells []string, failures bool) []byte {
	f.Helper()
	random := rand.New(rand.NewPCG(uint64(len(cells)), uint64(len(shard))))
	results := make([]map[string]any, len(cells))
	for i, id := range cells {
		results[i] = map[string]any{"cell": map[string]any{"id": id}, "outcome": "passed", "wall_ms": f.times[id].Milliseconds(),
			"samples": []any{map[string]any{"metric": "tps", "values": []float64{100}}}}
		if failures && random.IntN(50) == 0 {
			results[i] = map[string]any{"cell": map[string]any{"id": id}, "outcome": "timeout", "reason": "stuck", "wall_ms": 900_000}
		}
	}
	run := map[string]any{"schema": 1, "tool": "t", "started": "2026-01-01T00:00:00Z",
		"host":    map[string]any{"label": host, "os": "linux", "arch": "amd64", "cpu": "EPYC", "cores": 64},
		"metrics": []any{map[string]any{"name": "tps", "better": "higher"}}, "results": results}
	if shard != "" {
		run["shards"] = []string{shard}
	}
	data, err := json.Marshal(run)
	if err != nil {
		f.Fatal(err)
	}
	return data
}

// earlier writes a run of each host, and records its baseline.
func (f *fleet) earlier() {
	cells := make([]string, 0, len(f.times))
	for id := range f.times {
		cells = append(cells, id)
	}
	slices.Sort(cells)
	for _, host := range f.hosts {
		write(f.T, f.dir, filepath.Join("earlier", host, "run.json"), string(f.document(host, "", cells, false)))
		f.run(true, "baseline", "update", "--from", "earlier/"+host, "--host-label", host, "--reason", "first")
	}
}

// leave writes what a job leaves.
func (f *fleet) leave(host, shard string, cells []string) {
	f.Helper()
	path := filepath.Join("runs", host, strings.ReplaceAll(shard, "/", "-of-"), "run.json")
	write(f.T, f.dir, path, string(f.document(host, shard, cells, true)))
}

type sharded struct {
	Shards []struct {
		Shard string   `json:"shard"`
		Cells []string `json:"cells"`
	} `json:"shards"`
}

func (f *fleet) plan(shards int) (p sharded) {
	f.Helper()
	host := f.hosts[0]
	out := f.run(true, "plan", "--json", "--host-label", host, "--shards", fmt.Sprint(shards), "--durations", "earlier/"+host)
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		f.Fatal(err)
	}
	return p
}

// makespan checks how long the shards take on as many nodes, beside the bound below which no packing falls. Cells take a
// little more or less than the earlier ones, and one job in twenty is killed once, loses the cell that it was at, and
// starts again.
func (f *fleet) makespan(p sharded) {
	f.Helper()
	random := rand.New(rand.NewPCG(40, 40))
	var longest, total, end time.Duration
	for _, s := range p.Shards {
		var took time.Duration
		killed := -1
		if random.IntN(20) == 0 {
			killed = random.IntN(len(s.Cells))
		}
		for i, id := range s.Cells {
			actual := time.Duration(float64(f.times[id]) * math.Exp(0.05*random.NormFloat64()))
			longest, total = max(longest, actual), total+actual
			if took += actual; i == killed {
				took += time.Duration(random.Float64() * float64(actual))
			}
		}
		end = max(end, took)
	}
	bound := max(longest, total/time.Duration(len(p.Shards)))
	f.Logf("%d cells in %d shards: %v, at least %v, %.3f times that", len(f.times), len(p.Shards),
		end.Round(time.Second), bound.Round(time.Second), float64(end)/float64(bound))
	if float64(end) > 1.25*float64(bound) {
		f.Errorf("the longest of %d shards takes %v, more than 1.25 times %v", len(p.Shards), end, bound)
	}
}

// TestTwentyHostsThorough plans and judges 700 cells on each of 20 hosts.
func TestTwentyHostsThorough(t *testing.T) {
	testtier.Thorough(t)
	f := newFleet(t, 20, 8, 7, 10, 9)
	f.earlier()
	if n := strings.Count(f.run(true, "plan", "--for", "kubernetes", "--durations", "earlier"), "kind: Job\n"); n != 20 {
		t.Errorf("%d Jobs, want 20", n)
	}
	p := f.plan(8)
	f.makespan(p)
	for _, host := range f.hosts {
		for _, s := range p.Shards {
			f.leave(host, s.Shard, s.Cells)
		}
	}
	if err := os.RemoveAll(filepath.Join(f.dir, "runs", f.hosts[3], "5-of-8")); err != nil {
		t.Fatal(err)
	}
	if out := f.run(false, "report", "runs"); !strings.Contains(out, "shards 5/8 ") || !strings.Contains(out, f.hosts[19]) {
		t.Errorf("the missing shard is not named in\n%.2000s", out)
	}
}

// TestTwoHundredNodesThorough plans and judges 10,000 cells on 200 nodes, of which three left nothing.
func TestTwoHundredNodesThorough(t *testing.T) {
	testtier.Thorough(t)
	f := newFleet(t, 1, 200, 10, 50, 19)
	f.earlier()
	f.run(true, "plan", "--for", "kubernetes", "--durations", "earlier")
	p := f.plan(200)
	f.makespan(p)
	lost := []string{"7/200", "93/200", "200/200"}
	for _, s := range p.Shards {
		if !slices.Contains(lost, s.Shard) {
			f.leave(f.hosts[0], s.Shard, s.Cells)
		}
	}
	if out := f.run(false, "report", "runs"); !strings.Contains(out, "shards 7/200, 93/200, 200/200 ") {
		t.Errorf("the missing shards are not named in\n%.2000s", out)
	}
}
