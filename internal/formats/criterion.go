package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// isCriterion reports a message of cargo criterion, or a file of estimates.
func isCriterion(o object) bool {
	return strings.HasSuffix(o.text("reason"), "-complete") && (o.has("id") || o.has("group_name")) || isEstimates(o)
}

// isEstimates reports target/criterion/NAME/new/estimates.json, which has no name.
func isEstimates(o object) bool { return o.has("mean", "median_abs_dev", "std_dev") }

// criterionTime is a line of cargo bench: the bounds of an interval, and between
// them the estimate. Of a change it prints percentages, which have no unit.
var (
	criterionTime = lazyregexp.New(`^(.*?)\s*time:\s+\[\S+ \S+ ([0-9.]+) (ps|ns|us|µs|μs|ms|s) \S+ \S+\]`)
	criterionRate = lazyregexp.New(`^\s+thrpt:\s+\[\S+ \S+ ([0-9.]+) (\S+) \S+ \S+\]`)
	bencherLine   = lazyregexp.New(`^test (.+) \.\.\. bench:\s+([0-9.,]+) ns/iter`)
	criterionText = lazyregexp.New(`(?m)time:\s+\[\S+ \S+ [0-9.]+ \S+ \S+ \S+\]|^test .+ \.\.\. bench:\s+[0-9.,]+ ns/iter`)
)

func isCriterionText(data []byte) bool { return len(criterionText.FindSubmatch(data)) > 0 }

// criterionUnits are nanoseconds, and B/s or 1/s.
var criterionUnits = map[string]float64{"ps": 1e-3, "ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9,
	"B/s": 1, "KiB/s": 1 << 10, "MiB/s": 1 << 20, "GiB/s": 1 << 30, "TiB/s": 1 << 40,
	"elem/s": 1, "Kelem/s": 1e3, "Melem/s": 1e6, "Gelem/s": 1e9, "Telem/s": 1e12}

// criterion reads what cargo bench prints with Criterion.rs, also with
// --output-format bencher and without Criterion.rs, and the messages of cargo
// criterion --message-format=json. The value is the estimate that it prints: the
// slope over the iterations, or else the mean.
func criterion(out []byte) ([]Benchmark, error) {
	var all repetitions
	read := criterionLines
	if start := bytes.TrimSpace(out); len(start) > 0 && start[0] == '{' {
		read = criterionMessages
	}
	if err := read(&all, out); err != nil {
		return nil, err
	}
	return all.benchmarks(), nil
}

func criterionLines(all *repetitions, out []byte) error {
	before := "" // a long name has a line of its own
	for raw := range bytes.Lines(out) {
		line := strings.TrimRight(string(raw[:min(len(raw), 4096)]), "\r\n")
		m, old := criterionTime.FindStringSubmatch(line), bencherLine.FindStringSubmatch(line)
		var err error
		switch rate := criterionRate.FindStringSubmatch(line); {
		case m != nil:
			if m[1] != "" {
				before = m[1]
			}
			err = criterionAdd(all, before, "time_ns", m[2], m[3])
		case old != nil:
			err = criterionAdd(all, old[1], "time_ns", strings.ReplaceAll(old[2], ",", ""), "ns")
		case rate != nil && all.values[before] != nil:
			metric := "items_per_s"
			if strings.HasSuffix(rate[2], "B/s") {
				metric = "bytes_per_s"
			}
			if criterionUnits[rate[2]] > 0 {
				err = criterionAdd(all, before, metric, rate[1], rate[2])
			}
		case line != "" && !strings.HasPrefix(line, " "):
			before = line
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func criterionAdd(all *repetitions, name, metric, number, unit string) error {
	v, err := finite(number)
	if err != nil {
		return fmt.Errorf("benchmark %s: %w: see what the program printed in the middle of this line", text.Quote(name, 200), err)
	}
	if metric == "time_ns" {
		return all.once(name, Value{metric, v * criterionUnits[unit]})
	}
	return all.add(name, Value{metric, v * criterionUnits[unit]})
}

// criterionMessage is one line of cargo criterion.
type criterionMessage struct {
	Reason  string `json:"reason"`
	ID      string `json:"id"`
	Typical struct {
		Estimate float64 `json:"estimate"`
		Unit     string  `json:"unit"`
	} `json:"typical"`
	Throughput []struct {
		PerIteration float64 `json:"per_iteration"`
		Unit         string  `json:"unit"` // "bytes" or "elements"
	} `json:"throughput"`
}

func criterionMessages(all *repetitions, out []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("the result is not the JSON of cargo criterion (%w): save what --message-format=json prints", err)
		}
		var o object
		var m criterionMessage
		if err := harnessJSON(raw, &o); err != nil {
			return err
		}
		if isEstimates(o) {
			return errors.New(
				"estimates.json does not name its benchmark: give what cargo bench prints, or cargo criterion --message-format=json",
			)
		}
		if err := harnessJSON(raw, &m); err != nil {
			return err
		}
		if m.Reason == "benchmark-complete" {
			if err := m.add(all); err != nil {
				return err
			}
		}
	}
}

func (m *criterionMessage) add(all *repetitions) error {
	ns := m.Typical.Estimate * criterionUnits[m.Typical.Unit]
	if m.ID == "" || !(ns > 0) {
		return fmt.Errorf("benchmark %s has no typical time in ns, us, ms or s: see whether the file is of cargo criterion",
			text.Quote(m.ID, 200))
	}
	values := []Value{{"time_ns", ns}}
	for _, t := range m.Throughput {
		metric, known := map[string]string{"bytes": "bytes_per_s", "elements": "items_per_s"}[t.Unit]
		if known && len(values) == 1 {
			values = append(values, Value{metric, t.PerIteration * 1e9 / ns})
		}
	}
	return all.once(m.ID, values...)
}
