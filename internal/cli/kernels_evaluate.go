package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/suite/kernels"
	"github.com/accelgate/accelgate/internal/suite/kernels/evalconfig"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/terminal"
	"github.com/accelgate/accelgate/internal/text"
)

const evaluateHelp = `Judge the saved outputs of a kernel by those of its reference.

  accelgate kernels evaluate --definition D.json --reference R.safetensors --candidate C.safetensors

Mode strict, the default, compares NaN and infinities by place and sign, whole
numbers exactly, and others by what their format can hold. Mode fib decides as
flashinfer-bench does, float32 arithmetic and all. The evaluator follows from
the definition. One for samples judges draws, and needs the inputs in place of
the reference: output samples of the shape [draws, batch_size]. One for the
top-k indexer needs both.

Exit code 0 means PASSED, 1 any other status, 2 that something is wrong with
the command line, a file or the definition.`

// evaluation is what the command was asked for.
type evaluation struct {
	settings                                 settingFlags
	evaluator                                string
	definition, reference, candidate, inputs string
	json                                     bool
}

func (c *Command) evaluateCommand(code *int) *cobra.Command {
	var e evaluation
	cmd := &cobra.Command{
		Use:   "evaluate",
		Short: "Judge saved outputs by those of the reference",
		Long:  evaluateHelp,
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) (err error) {
			*code, err = c.evaluate(&e)
			return err
		},
	}
	f := cmd.Flags()
	e.settings.addJudging(f)
	f.StringVar(&e.evaluator, "evaluator", "", "`name` of one of "+strings.Join(evaluator.Names(), ", ")+" (default: the definition's)")
	f.StringVar(&e.definition, "definition", "", "the definition's JSON `file` (required)")
	f.StringVar(&e.reference, "reference", "", "safetensors `file` with the outputs of the reference (required, but for samples)")
	f.StringVar(&e.candidate, "candidate", "", "safetensors `file` with the outputs to judge (required)")
	f.StringVar(&e.inputs, "inputs", "", "safetensors `file` with the inputs, for the evaluators that need them")
	f.BoolVar(&e.json, "json", false, "print the result as JSON")
	return cmd
}

// evaluate never measures: whatever keeps it from a verdict is in its arguments.
func (c *Command) evaluate(e *evaluation) (int, error) {
	d, name, err := e.settle()
	if err != nil {
		return 0, exit.AsUsage(err)
	}
	p, err := e.params(d)
	if err != nil {
		return 0, exit.AsUsage(err)
	}
	r, err := e.judge(d, name, p)
	if err != nil {
		return 0, exit.AsUsage(err)
	}
	if err := c.printEvaluation(e, fmt.Sprintf("%s: %s, mode %s, evaluator %s", r.Status, d.Name, p.Mode, name), r); err != nil {
		return 0, err
	}
	if r.Status != evaluator.Passed {
		return exit.GateFailed, nil
	}
	return exit.Passed, nil
}

// settle checks the flags and returns the definition and its evaluator.
func (e *evaluation) settle() (*flashinfer.Definition, string, error) {
	if e.definition == "" || e.candidate == "" {
		return nil, "", errors.New("evaluate: add --definition D.json and --candidate C.safetensors")
	}
	d, err := readDefinition(e.definition)
	if err != nil {
		return nil, "", err
	}
	name := e.evaluator
	switch {
	case name == "":
		if name, err = evaluator.For(*d); err != nil {
			return nil, "", err
		}
	case !slices.Contains(evaluator.Names(), name):
		return nil, "", fmt.Errorf("--evaluator: unknown evaluator %q: write one of %s", name, strings.Join(evaluator.Names(), ", "))
	}
	return d, name, e.complete(d, name)
}

// complete demands the files that an evaluator needs.
func (e *evaluation) complete(d *flashinfer.Definition, name string) error {
	if (name == evaluator.NameSampling || name == evaluator.NameIndexer) && e.inputs == "" {
		return fmt.Errorf("the evaluator %s of the definition %s needs the inputs: add --inputs I.safetensors, or compare the numbers alone with --evaluator %s",
			name, d.Name, evaluator.NameElementwise)
	}
	if name != evaluator.NameSampling && e.reference == "" {
		return errors.New("evaluate: add --reference R.safetensors")
	}
	return nil
}

// params are what counts for the definition without a configuration.
func (e *evaluation) params(d *flashinfer.Definition) (evaluator.Params, error) {
	r, err := evalconfig.Default().Resolve(d.Name, d.OpType, e.settings.Overrides)
	return kernels.Params(d, r), err
}

// judge reads the files and has the evaluator judge them.
func (e *evaluation) judge(d *flashinfer.Definition, name string, p evaluator.Params) (r evaluator.Result, err error) {
	evidence := kernels.Evidence{Definition: d, Params: p, Input: inputsOf(d, e.inputs)}
	if name == evaluator.NameSampling { // a single draw of the reference says nothing of samples
		evidence.Candidate, err = readDraws(d, e.candidate)
	} else if evidence.Reference, err = readReference(d, e.reference); err == nil {
		evidence.Candidate, err = readCandidate(e.candidate, evidence.Reference)
	}
	if err != nil {
		return r, err
	}
	return evidence.Judge(name)
}

// printEvaluation prints the verdict; why it is not PASSED is for people.
func (c *Command) printEvaluation(e *evaluation, verdict string, r evaluator.Result) error {
	if !e.json {
		return evaluationTable(c.Stdout, verdict, r)
	}
	if r.Log != "" {
		c.complain(errors.New(r.Log))
	}
	text, err := json.Marshal(evaluatedOf(r))
	if err == nil {
		_, err = fmt.Fprintf(c.Stdout, "%s\n", text)
	}
	return err
}

// evaluated is a verdict as JSON.
type evaluated struct {
	Status  evaluator.Status  `json:"status"`
	Outputs []evaluatedOutput `json:"outputs"`
}

// evaluatedOutput has null for the errors of an output that could not be
// compared, and for the worst index of one that is equal.
type evaluatedOutput struct {
	Name             string              `json:"name"`
	MaxAbsoluteError *evaluator.Number   `json:"max_absolute_error"`
	MaxRelativeError *evaluator.Number   `json:"max_relative_error"`
	MatchedRatio     float64             `json:"matched_ratio"`
	WorstIndex       []int               `json:"worst_index"`
	NonFinite        evaluator.NonFinite `json:"nonfinite"`
}

func evaluatedOf(r evaluator.Result) evaluated {
	all := evaluated{Status: r.Status, Outputs: []evaluatedOutput{}}
	for _, o := range r.Outputs {
		out := evaluatedOutput{Name: o.Name, MatchedRatio: o.MatchedRatio, WorstIndex: o.WorstIndex, NonFinite: o.NonFinite}
		if wasCompared(o) {
			out.MaxAbsoluteError, out.MaxRelativeError = &o.MaxAbsoluteError, &o.MaxRelativeError
		}
		all.Outputs = append(all.Outputs, out)
	}
	return all
}

// wasCompared reports whether an output has the shape and format that make it comparable.
func wasCompared(o evaluator.OutputResult) bool {
	return o.Status == evaluator.Passed || o.Status == evaluator.IncorrectNumerical
}

func evaluationTable(w io.Writer, verdict string, r evaluator.Result) error {
	t := terminal.NewTable(w)
	fmt.Fprintf(t, "%s\noutput\tstatus\tmatched\tmax abs error\tmax rel error\tworst index\tNaN, inf: reference\tcandidate\n", text.Clean(verdict))
	for _, o := range r.Outputs {
		errs := "-\t-"
		if wasCompared(o) {
			errs = fmt.Sprintf("%.4g\t%.4g", float64(o.MaxAbsoluteError), float64(o.MaxRelativeError))
		}
		worst := "-"
		if o.WorstIndex != nil {
			worst = fmt.Sprint(o.WorstIndex)
		}
		n := o.NonFinite
		fmt.Fprintf(t, "%s\t%s\t%.6g %%\t%s\t%s\t%d, %d\t%d, %d\n", text.OneLine(o.Name), o.Status, 100*o.MatchedRatio, errs, worst,
			n.ReferenceNaN, n.ReferenceInf, n.CandidateNaN, n.CandidateInf)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(r.Log) {
		if _, err := fmt.Fprintln(w, text.Clean(strings.TrimSuffix(line, "\n"))); err != nil {
			return err
		}
	}
	return nil
}
