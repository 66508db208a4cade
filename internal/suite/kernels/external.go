package kernels

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
	"github.com/accelgate/accelgate/internal/worker"
)

// request is what an evaluator of the user's is asked.
type request struct {
	evaluator.Request
	// Draws is the path of a safetensors file with the solution's outputs of many
	// calls, stacked along a new first axis, where a sampling case is judged by
	// them; Candidate is the first of these calls. Empty for single calls.
	Draws string `json:"draws"`
}

// external asks the user's own evaluator.
func (j *judge) external(pair harness.Pair) (evaluator.Result, error) {
	dir, err := os.MkdirTemp(j.suite.outputs, "verdict-*")
	if err != nil {
		return evaluator.Result{}, fmt.Errorf("make a folder for the evaluator's files: %w", err)
	}
	defer os.RemoveAll(dir)
	request, err := j.request(dir, pair)
	if err != nil {
		return evaluator.Result{}, err
	}
	return j.suite.evaluate(j.ctx, j.command, request)
}

// request writes the files that the evaluator reads and returns the question.
func (j *judge) request(dir string, pair harness.Pair) ([]byte, error) {
	r := request{
		Request: evaluator.Request{
			Protocol:   evaluator.Protocol,
			Definition: filepath.Join(dir, "definition.json"),
			Workload:   j.point.workload.UUID,
			Axes:       j.point.workload.Axes,
			Inputs:     filepath.Join(dir, "inputs.safetensors"),
			Reference:  filepath.Join(dir, "reference.safetensors"),
			Candidate:  filepath.Join(dir, "candidate.safetensors"),
			Mode:       j.params.Mode,
			Outputs:    j.params.Outputs,
			Tolerance:  evaluator.Tolerance{Rtol: j.params.Rtol, Atol: j.params.Atol, RequiredMatchedRatio: j.params.RequiredMatchedRatio},
		},
	}
	text, err := flashinfer.EncodeDefinition(j.point.definition)
	if err != nil {
		return nil, err
	}
	inputs, err := j.inputs(pair)
	if err != nil {
		return nil, err
	}
	candidate, draws := pair.Solution, error(nil)
	if pair.Draws {
		r.Draws = filepath.Join(dir, "draws.safetensors")
		draws = write(r.Draws, pair.Solution)
		candidate = first(pair.Solution)
	}
	data, err := json.Marshal(r)
	return data, errors.Join(err, os.WriteFile(r.Definition, text, 0o600), safetensors.Write(r.Inputs, inputs),
		write(r.Reference, pair.Reference), write(r.Candidate, candidate), draws)
}

// inputs are those that a pair was computed from.
func (j *judge) inputs(pair harness.Pair) (named []safetensors.Named, err error) {
	for _, in := range j.kase.Inputs {
		t, err := j.input(in.Name, pair.Trial, pair.Set)
		if err != nil {
			return nil, fmt.Errorf("input %s: %w", in.Name, err)
		}
		named = append(named, safetensors.Named{Name: in.Name, Tensor: t})
	}
	return named, nil
}

// first returns the outputs of the first of many calls.
func first(stacked []evaluator.Output) (one []evaluator.Output) {
	for _, out := range stacked {
		t := out.Tensor
		t.Data, t.Shape = t.Data[:len(t.Data)/t.Shape[0]], t.Shape[1:]
		one = append(one, evaluator.Output{Name: out.Name, Tensor: t})
	}
	return one
}

func write(path string, outputs []evaluator.Output) error {
	var named []safetensors.Named
	for _, out := range outputs {
		named = append(named, safetensors.Named{Name: out.Name, Tensor: out.Tensor})
	}
	return safetensors.Write(path, named)
}

// evaluate runs a command with the request on its standard input. One that takes too
// long is ended with all that it started.
func (s *Suite) evaluate(ctx context.Context, command []string, request []byte) (evaluator.Result, error) {
	p, err := (&worker.Isolated{Environ: s.env.Environ, MaxStdout: evaluator.MaxVerdictBytes}).Start(
		worker.Request{Args: command, Dir: s.env.Dir},
	)
	if err != nil {
		return evaluator.Result{}, fmt.Errorf("external evaluator: %w: correct evaluators", err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.limit())
	defer cancel()
	sent := p.Send(append(request, '\n'))
	go func() { // it need not read all
		<-sent
		p.CloseInput()
	}()
	text, readErr := readAll(ctx, p)
	if readErr != nil {
		_, err := p.Kill(worker.TimedOut)
		return evaluator.Result{}, errors.Join(readErr, err)
	}
	response, err := p.Wait(ctx, s.limit())
	switch {
	case err != nil:
		return evaluator.Result{}, err
	case !response.OK():
		return evaluator.Result{}, fmt.Errorf("external evaluator %s: %s: see its log: %.500s", command[0], response.Reason(), response.Log)
	}
	return evaluator.ParseVerdict(text)
}

// readAll reads what the evaluator prints until it closes its output.
func readAll(ctx context.Context, p *worker.Process) ([]byte, error) {
	var out bytes.Buffer
	for {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("external evaluator: no verdict in time (%w): make it faster, or raise timeouts.build",
				context.Cause(ctx))
		case line, more := <-p.Lines():
			if !more {
				return out.Bytes(), nil
			}
			out.Write(line.Text)
			out.WriteByte('\n')
			if line.Cut || out.Len() > evaluator.MaxVerdictBytes {
				return nil, fmt.Errorf("external evaluator: more than %d bytes of output: write one verdict", evaluator.MaxVerdictBytes)
			}
		}
	}
}
