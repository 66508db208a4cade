package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
)

// BenchmarkReport reads, judges and renders a run of 100,000 cells with two metrics of three values each through the command,
// in each format: time, processor time and the most memory of the process. Beside it, the floor: encoding/json decodes the run, and
// the sizes of the baseline and of the page.
func BenchmarkReport(b *testing.B) {
	dir := b.TempDir()
	b.Chdir(dir)
	writeReport(b, 1000)
	for _, format := range []string{"terminal", "json", "html", "html --out report.html"} {
		b.Run(strings.ReplaceAll(format, " ", ""), func(b *testing.B) {
			peak, used := int64(0), time.Duration(0)
			for b.Loop() {
				took := command(b, append([]string{"report", "run.json", "--format"}, strings.Fields(format)...)...)
				peak = max(peak, took.Maxrss)
				used += time.Duration(took.Utime.Nano() + took.Stime.Nano())
			}
			b.ReportMetric(float64(peak)/1e3, "peak-MB")
			if page, err := os.Stat("report.html"); err == nil {
				b.ReportMetric(float64(page.Size())/1e6, "page-MB")
			}
			b.ReportMetric(used.Seconds()/float64(b.N), "cpu-s/op")
		})
	}
	if file, err := os.Stat("baselines/baseline-lab.json"); err == nil {
		b.Run("baseline", func(b *testing.B) { b.ReportMetric(float64(file.Size())/1e6, "file-MB") })
	}
	b.Run("floor", func(b *testing.B) {
		before := ownTime(b)
		for b.Loop() {
			data, err := os.ReadFile("run.json")
			if err == nil {
				err = json.Unmarshal(data, &bench.Run{})
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric((ownTime(b)-before).Seconds()/float64(b.N), "cpu-s/op")
	})
}

// ownTime is the processor time of this process.
func ownTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// command runs the command in a process of its own, and returns what it took.
func command(b *testing.B, args ...string) *syscall.Rusage {
	b.Helper()
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := &exec.Cmd{Path: program, Args: append([]string{"accelgate"}, args...), Stderr: &stderr} // see TestMain
	if err := cmd.Run(); err != nil {
		b.Fatalf("%v: %v: %.500s", args, err, &stderr)
	}
	return cmd.ProcessState.SysUsage().(*syscall.Rusage)
}

// writeReport writes a configuration of 100 cells a model, a baseline and a run with nothing but noise.
func writeReport(b *testing.B, models int) {
	b.Helper()
	ids := func(prefix string, n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("%s%d", prefix, i)
		}
		return strings.Join(list, ", ")
	}
	configuration := fmt.Sprintf(`version: 1
host: {label: lab}
suites:
  - name: s
    kind: models
    command: ["true", "{model}", "{backend}", "{feature}"]
    models: [%s]
    backends: [%s]
    features: [%s]
    metrics: [{name: decode, json: d, unit: tok/s, better: higher}, {name: prefill, json: p, unit: tok/s, better: higher}]
`, ids("m", models), ids("b", 10), ids("f", 10))
	if err := os.WriteFile("accelgate.yaml", []byte(configuration), 0o644); err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"base.json", "run.json"} {
		data, err := json.Marshal(noise(rng, 100*models))
		if err == nil {
			err = os.WriteFile(name, data, 0o644)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	command(b, "baseline", "update", "--from", "base.json", "--reason", "first")
}

func noise(rng *rand.Rand, cells int) *bench.Run {
	r := &bench.Run{Schema: bench.RunSchema, Tool: "accelgate", Started: time.Now().UTC(),
		Host:    bench.Host{Label: "lab", Fingerprint: bench.Fingerprint{OS: "linux", Arch: "amd64", CPU: "EPYC 9354", Cores: 32}}, // so that speed is judged
		Metrics: []bench.Metric{{Name: "decode", Unit: "tok/s", Better: bench.Higher}, {Name: "prefill", Unit: "tok/s", Better: bench.Higher}}}
	for i := range cells {
		result := bench.Result{Outcome: bench.Passed, Cell: bench.Cell{Suite: "s", Params: []bench.Param{{Key: "model", Value: fmt.Sprintf("m%d", i/100)},
			{Key: "backend", Value: fmt.Sprintf("b%d", i/10%10)}, {Key: "feature", Value: fmt.Sprintf("f%d", i%10)}, {Key: "baseline", Value: "baseline"}}}}
		for _, m := range r.Metrics {
			values := make([]float64, 3)
			for k := range values {
				values[k] = float64(int(1e6*(1+0.01*rng.NormFloat64()))) / 1e4
			}
			result.Samples = append(result.Samples, bench.Sample{Metric: m.Name, Values: values})
		}
		r.Results = append(r.Results, result)
	}
	return r
}
