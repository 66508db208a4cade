package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/suite/kernels/evalconfig"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/text"
)

const explainHelp = `Print what counts for a definition and where each value comes from: built-in
defaults, the configuration's top level, its op_type_config, its
definition_config, or a flag. Where flashinfer-bench's documentation or its
code would come to another value, that is printed too.

  accelgate kernels config explain --local flashinfer-trace gemm_n128_k2048
  accelgate kernels config explain definitions/gemm/gemm_n128_k2048.json --config eval.yaml --rtol 0.02`

func (c *Command) kernelsConfigCommand() *cobra.Command {
	var local, config string
	var asJSON bool
	var settings settingFlags
	explain := &cobra.Command{
		Use:   "explain DEFINITION",
		Short: "Print the settings of a definition, and their sources",
		Long:  explainHelp,
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := chooseDefinition(args[0], local)
			if err != nil {
				return exit.AsUsage(err)
			}
			file, err := c.evalConfig(config)
			if err != nil {
				return exit.AsUsage(err)
			}
			if err := settings.Check(); err != nil {
				return exit.AsUsage(err)
			}
			if asJSON {
				list, err := file.Settings(d.Name, d.OpType, settings.Overrides)
				if err != nil {
					return err
				}
				return c.encode(list)
			}
			return file.Explain(c.Stdout, d.Name, d.OpType, settings.Overrides)
		},
	}
	f := explain.Flags()
	f.BoolVar(&asJSON, "json", false, "print the settings as JSON")
	f.StringVar(&local, "local", "", "`folder` of the dataset that DEFINITION is a name in (default: DEFINITION is a JSON file)")
	f.StringVar(&config, "config", "", "configuration `file` of flashinfer-bench, in YAML (default: the values that ship with accelgate)")
	settings.addJudging(f)
	settings.addMeasuring(f)
	parent := group("config", "Explain configurations", "explain")
	parent.AddCommand(explain)
	return parent
}

// chooseDefinition returns a definition by its name in a dataset or by its
// file.
func chooseDefinition(name, local string) (*flashinfer.Definition, error) {
	if local == "" && strings.HasSuffix(name, ".json") {
		return readDefinition(name)
	}
	if local == "" {
		return nil, fmt.Errorf("%q is not a JSON file: name the definition's, or add --local with the folder of its dataset", name)
	}
	ds, err := flashinfer.Load(local)
	if ds == nil {
		return nil, err
	}
	if d := ds.Definition(name); d != nil {
		return d, nil
	}
	if err != nil { // it may be in a file that cannot be read
		return nil, err
	}
	return nil, fmt.Errorf("%s has no definition %q%s: write a name that is in definitions/", local, name, nearDefinition(ds, name))
}

func nearDefinition(ds *flashinfer.Dataset, name string) string {
	var names []string
	for _, d := range ds.Definitions {
		names = append(names, d.Name)
	}
	if word := text.Nearest(name, names); word != "" {
		return fmt.Sprintf(" (did you mean %s?)", word)
	}
	return ""
}

// evalConfig reads a configuration of kernels; without a path it is the one
// that ships with accelgate.
func (c *Command) evalConfig(path string) (*evalconfig.File, error) {
	if path == "" {
		return evalconfig.Default(), nil
	}
	text, err := measure.ReadBounded(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %w: name a configuration in YAML", err)
	}
	file, err := evalconfig.Parse(path, text)
	if err != nil {
		return nil, err
	}
	c.warnAll(file.Warnings())
	return file, file.CheckEvaluators(evaluator.Names())
}

// settingFlags are the flags that override what a configuration says of
// measuring and judging a definition. One that is not given says nothing.
type settingFlags struct{ evalconfig.Overrides }

// addJudging adds the flags of correctness.
func (s *settingFlags) addJudging(f *pflag.FlagSet) {
	f.Var(optional[string]{&s.Mode, func(s string) (string, error) { return s, nil }}, "mode",
		"`rules` that judge outputs: strict or fib (default: strict)")
	f.Var(optional[float64]{&s.Rtol, parseFloat}, "rtol", "relative error that is accepted, `x` above 0 (default: the mode's)")
	f.Var(optional[float64]{&s.Atol, parseFloat}, "atol", "absolute error that is accepted, `x` above 0 (default: the mode's)")
	f.Var(optional[float64]{&s.RequiredMatchedRatio, parseFloat}, "required-matched-ratio",
		"share of elements that must be within, `x` above 0 and up to 1 (default: the evaluator's)")
}

// addMeasuring adds the flags of how often and how long.
func (s *settingFlags) addMeasuring(f *pflag.FlagSet) {
	f.Var(optional[int]{&s.WarmupRuns, parseInt}, "warmup-runs", "calls before timing, `n` from 0 on")
	f.Var(optional[int]{&s.Iterations, parseInt}, "iterations", "timed calls per trial, `n` from 1 on")
	f.Var(optional[int]{&s.NumTrials, parseInt}, "num-trials", "sets of inputs, `n` from 1 on")
	f.Var(optional[int]{&s.TimeoutSeconds, parseInt}, "timeout", "whole `seconds` for a case and its build")
}

// optional is a flag whose pointer stays nil unless it is given.
type optional[T any] struct {
	value **T
	parse func(string) (T, error)
}

func (o optional[T]) Set(s string) error {
	v, err := o.parse(s)
	if err != nil {
		return err
	}
	*o.value = &v
	return nil
}

func (o optional[T]) String() string { return "" }
func (o optional[T]) Type() string   { return "value" }

func parseFloat(s string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !plainNumber.MatchString(s) {
		return 0, fmt.Errorf("write a number such as 0.01 or 1e-2")
	}
	return x, nil
}

func parseInt(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("write a whole number")
	}
	return n, nil
}
