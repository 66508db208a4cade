package formats

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// torchHead begins what Python prints of a Measurement.
const torchHead = "<torch.utils.benchmark.utils.common.Measurement object at "

func isTorchBenchmark(data []byte) bool { return bytes.Contains(data, []byte(torchHead)) }

var (
	torchMedian  = lazyregexp.New(`^  (?:Median: )?([0-9.]+) (ns|us|ms|s)$`)
	torchThreads = lazyregexp.New(`^  [0-9]+ measurements?, .* ([0-9]+) threads?$`)
)

// torchBenchmark reads what print(measurement) prints of torch.utils.benchmark, for
// each measurement the median of its replicates. The name is the title, or the
// statement where it has none, and the description behind ", "; and ", N threads"
// where it has several. Tables of Compare are not read.
func torchBenchmark(out []byte) ([]Benchmark, error) {
	var all repetitions
	blocks := strings.Split(string(out), torchHead)
	for _, block := range blocks[1:] {
		name, median, unit := torchMeasurement(block)
		v, err := finite(median)
		if err != nil {
			return nil, fmt.Errorf("measurement %s has no median: print each measurement whole", text.Quote(name, 200))
		}
		if err := all.once(name, Value{"time_ns", v * googleUnits[unit]}); err != nil {
			return nil, err
		}
	}
	return all.benchmarks(), nil
}

// torchMeasurement returns the name, the median and its unit.
func torchMeasurement(block string) (name, median, unit string) {
	var title []string
	setup := false
	lines := strings.Split(block, "\n")
	for _, line := range lines[1:] { // the first one ends the head
		line = strings.TrimRight(line, "\r")
		setup = setup || strings.HasPrefix(line, "setup:")
		if m := torchMedian.FindStringSubmatch(line); m != nil && median == "" {
			median, unit = m[1], m[2]
		} else if m := torchThreads.FindStringSubmatch(line); m != nil {
			if m[1] != "1" {
				title = append(title, m[1]+" threads")
			}
			break
		} else if part := strings.TrimSpace(line); median == "" && !setup && part != "" && part != "stmt:" {
			title = append(title, part)
		}
	}
	return strings.Join(title, ", "), median, unit
}
