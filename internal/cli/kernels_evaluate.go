package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/suite/kernels"
	"github.com/accelgate/accelgate/internal/suite/kernels/evalconfig"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
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
	settings              settingFlags
	evaluator, definition string
	files                 kernels.Saved
	json                  bool
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
	f.StringVar(&e.files.Reference, "reference", "", "safetensors `file` with the outputs of the reference (required, but for samples)")
	f.StringVar(&e.files.Candidate, "candidate", "", "safetensors `file` with the outputs to judge (required)")
	f.StringVar(&e.files.Inputs, "inputs", "", "safetensors `file` with the inputs, for the evaluators that need them")
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
	r, err := e.files.Judge(d, name, p)
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
	if e.definition == "" || e.files.Candidate == "" {
		return nil, "", errors.New("evaluate: add --definition D.json and --candidate C.safetensors")
	}
	d, err := kernels.ReadDefinition(e.definition)
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
	if (name == evaluator.NameSampling || name == evaluator.NameIndexer) && e.files.Inputs == "" {
		return fmt.Errorf(
			"the evaluator %s of the definition %s needs the inputs: add --inputs I.safetensors, or compare the numbers alone with --evaluator %s",
			name, d.Name, evaluator.NameElementwise)
	}
	if name != evaluator.NameSampling && e.files.Reference == "" {
		return errors.New("evaluate: add --reference R.safetensors")
	}
	return nil
}

// params are what counts for the definition without a configuration.
func (e *evaluation) params(d *flashinfer.Definition) (evaluator.Params, error) {
	r, err := evalconfig.Default().Resolve(d.Name, d.OpType, e.settings.Overrides)
	return kernels.Params(d, r), err
}

// printEvaluation prints the verdict; why it is not PASSED is for people.
func (c *Command) printEvaluation(e *evaluation, verdict string, r evaluator.Result) error {
	if !e.json {
		return kernels.PrintJudged(c.Stdout, c.columns(), verdict, r)
	}
	if r.Log != "" {
		c.complain(errors.New(r.Log))
	}
	text, err := json.Marshal(kernels.JudgedJSON(r))
	if err == nil {
		_, err = fmt.Fprintf(c.Stdout, "%s\n", text)
	}
	return err
}
