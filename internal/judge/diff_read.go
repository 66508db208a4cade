package judge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/formats/inferencebench"
	"github.com/accelgate/accelgate/internal/gate/diff"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/text"
)

// readSide reads a document of any kind that holds numbers.
func (d *Diff) readSide(path string) (diff.Document, error) {
	data, err := suite.ReadResult(path, path, bench.MaxRunBytes)
	if err != nil {
		return diff.Document{}, exit.Usagef("%w: name a run.json, a baseline or an envelope", err)
	}
	if err := d.verify(path, data); err != nil {
		return diff.Document{}, err
	}
	if inferencebench.IsEnvelope(data) {
		return envelopeSide(path, data, d.Compat)
	}
	if d.Compat != "" {
		return diff.Document{}, exit.Usagef("%s is not an envelope, and --compat compares envelopes: leave --compat out", path)
	}
	run, err := runOf(path, data)
	if err != nil {
		return diff.Document{}, exit.AsUsage(err)
	}
	side := diff.DocumentOf(path, run, runFacts(run))
	side.Impossible = cmp.Or(side.Impossible, impossibleLoad(run))
	return side, nil
}

// runOf reads a run, or a baseline as one. Its members decide which of the two it is
// meant to be: the reader of baselines is tolerant, and would find an empty
// one in anything.
func runOf(path string, data []byte) (*bench.Run, error) {
	var members struct {
		Results json.RawMessage `json:"results"`
		Entries json.RawMessage `json:"entries"`
	}
	err := json.Unmarshal(data, &members)
	switch {
	case members.Results != nil:
		run, err := bench.DecodeRun(data)
		if err == nil {
			return run, nil
		}
		if run, _, _, foreignErr := formats.ReadFile(data); foreignErr == nil {
			return run, nil // other tools call their results so, too
		}
		return nil, fmt.Errorf("%s: %w; measure again with 'accelgate run'", path, err)
	case members.Entries != nil:
		file, err := baseline.Parse(path, data)
		if err != nil {
			return nil, err
		}
		return file.Run(), nil
	}
	run, _, _, foreignErr := formats.ReadFile(data)
	if foreignErr == nil {
		return run, nil
	}
	if err != nil && !json.Valid(data) { // JSON lines are not JSON either, but formats reads them
		return nil, fmt.Errorf("%s is not JSON (%w): name a run.json, a baseline or an envelope", path, err)
	}
	return nil, fmt.Errorf("%s is not a run, baseline or envelope: name one of these; as the result of another tool: %w", path, foreignErr)
}

// runFacts are the conditions that a run or a baseline records.
func runFacts(run *bench.Run) []diff.Fact {
	machine := ""
	if !run.Host.Unknown() {
		machine = run.Host.Device()
	}
	facts := []diff.Fact{
		{Name: "hardware_fingerprint", Value: machine, Unknown: machine == ""},
		{Name: "client", Value: run.Tool, Unknown: run.Tool == ""},
	}
	for _, name := range slices.Sorted(maps.Keys(run.Context)) {
		if name == bench.BatchJob {
			continue
		}
		facts = append(facts, diff.Fact{Name: name, Value: oneSpelling(run.Context[name])})
	}
	return facts
}

// oneSpelling makes 4.0 of one client the 4 of another.
func oneSpelling(value string) string {
	if x, err := strconv.ParseFloat(value, 64); err == nil && text.IsNumber(value) && x == math.Trunc(x) && x < 1<<53 {
		return strconv.FormatInt(int64(x), 10)
	}
	return value
}
