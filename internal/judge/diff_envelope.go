package judge

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/formats/inferencebench"
	"github.com/accelgate/accelgate/internal/formats/signature"
	"github.com/accelgate/accelgate/internal/gate/diff"
)

// envelopeSide reads an envelope as one side of a diff.
func envelopeSide(path string, data []byte, compat string) (diff.Document, error) {
	e, err := inferencebench.Parse(data)
	if err != nil {
		return diff.Document{}, exit.Usagef("%s: %w", path, err)
	}
	if compat != "" {
		return originalSide(path, e), nil
	}
	run := e.Run()
	side := diff.DocumentOf(path, run, contextFacts(run))
	side.Impossible = cmp.Or(e.Impossible(), side.Impossible)
	if loaded, stated := e.Loaded(); loaded && !stated {
		side.Context = append(side.Context, diff.Fact{Name: "concurrency", Unknown: true, Needed: true})
	}
	return side, nil
}

// impossibleLoad returns which number of a load, in a run that has any, cannot be,
// or "".
func impossibleLoad(run *bench.Run) string {
	for i := range run.Results {
		r := &run.Results[i]
		facts := r.Facts()
		if r.Outcome != bench.Passed || facts["mode"] == "" || facts["schedule_sha256"] == "" {
			continue
		}
		for _, s := range r.Samples {
			for _, v := range s.Values {
				if why := inferencebench.ImpossibleValue(s.Metric, v); why != "" {
					return why
				}
			}
		}
	}
	return ""
}

// verify holds a document against its signature, or an envelope against the hash in its name.
func (d *Diff) verify(path string, data []byte) error {
	if d.Key != nil {
		return signature.VerifyFile(d.Key, path, data)
	}
	if d.Verify == "" {
		return nil
	}
	if !inferencebench.IsEnvelope(data) {
		return fmt.Errorf("%s: only envelopes have a hash in their name: leave --verify out, or name a public key with --verify=KEY", path)
	}
	if err := inferencebench.VerifyName(filepath.Base(path), data); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// originalSide holds what InferenceBench itself compares: six facts, whatever
// stands in them, and every metric with the known directions.
func originalSide(path string, e *inferencebench.Envelope) diff.Document {
	side := diff.Document{Name: path, Context: []diff.Fact{
		{Name: "suite_id", Value: e.SuiteID}, {Name: "model_id", Value: e.Model.ID}, {Name: "engine_name", Value: e.Engine.Name},
		{Name: "engine_version", Value: e.Engine.Version}, {Name: "quantization_format", Value: e.Quantization.Format},
		{Name: "hardware_fingerprint", Value: e.Fingerprint},
	}, Cells: []diff.Cell{{}}}
	for _, m := range e.Metrics {
		direction, _ := inferencebench.OriginalDirection(m.Name)
		side.Cells[0].Metrics = append(side.Cells[0].Metrics,
			diff.Metric{Metric: bench.Metric{Name: m.Name, Better: direction}, Value: m.Value, Has: m.Has})
	}
	return side
}

// contextFacts returns the conditions of an envelope's view as a run, without
// placeholders.
func contextFacts(run *bench.Run) []diff.Fact {
	facts := runFacts(run)
	for i := range facts {
		facts[i].Unknown = facts[i].Unknown || inferencebench.Unknown(facts[i].Name, facts[i].Value)
	}
	return facts
}
