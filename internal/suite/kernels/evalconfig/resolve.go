package evalconfig

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
)

// The modes: by whose rules outputs are judged.
const (
	fib    = "fib"    // FlashInfer-Bench's
	strict = "strict" // accelgate's
)

const builtIn = "built-in"

// fibTolerance is the rtol and the atol of FlashInfer-Bench.
const fibTolerance = 1e-2

// Value is a value and where it comes from: "built-in", "bundled
// op_type_config.moe",
// "eval.yaml:7 op_type_config.moe" or "--rtol".
type Value[T any] struct {
	V      T
	Origin string // "" if nothing sets the value
}

// Resolved is what counts for one definition.
type Resolved struct {
	UseIsolatedRunner Value[bool]
	TimeoutSeconds    Value[int]
	ProfileBaseline   Value[bool]

	Mode                              Value[string] // "fib" or "strict"
	WarmupRuns, Iterations, NumTrials Value[int]
	// Rtol and Atol are 0 in mode strict where nothing sets them, and so is
	// RequiredMatchedRatio in both: then the evaluator has its own default.
	Rtol, Atol, RequiredMatchedRatio Value[float64]
	// Outputs holds what differs for single outputs, by name. What is set there
	// counts for its output whichever layer sets the value for all outputs.
	Outputs map[string]OutputTolerance
	Extra   map[string]Value[string]
	// Evaluator is zero if the file does not choose one.
	Evaluator Value[Evaluator]
}

// OutputTolerance is what is set for one output; 0 is what counts for all.
type OutputTolerance struct {
	Rtol, Atol, RequiredMatchedRatio Value[float64]
}

// SamplingTrials returns extra.sampling_validation_trials, or 0 if it is not
// set.
func (r Resolved) SamplingTrials() int {
	n, _ := strconv.Atoi(r.Extra[extraTrials].V)
	return n
}

// TVDThreshold returns extra.sampling_tvd_threshold, a total variation
// distance; ok is false if it is not set.
func (r Resolved) TVDThreshold() (threshold float64, ok bool) {
	threshold, err := strconv.ParseFloat(r.Extra[extraTVD].V, 64)
	return threshold, err == nil
}

// Resolve returns what counts for a definition. It is an error if a flag is out
// of range or if two patterns of evaluators match the definition.
func (f *File) Resolve(definition, opType string, flags Overrides) (Resolved, error) {
	if err := flags.Check(); err != nil {
		return Resolved{}, err
	}
	layers := append([]layer{builtin(), bundled().global()}, bundled().sections(definition, opType)...)
	layers = append(append(layers, f.global()), f.sections(definition, opType)...)
	r := stack(append(layers, flags.layer()))
	var err error
	r.Evaluator, err = f.evaluator(definition)
	return r, err
}

// Selection returns the only definitions and solutions to run, by exact names.
// Nil means all.
func (f *File) Selection(flags Overrides) (definitions, solutions Value[[]string]) {
	for _, l := range []layer{f.global(), flags.layer()} {
		setList(&definitions, l.Definitions, l, "definitions")
		setList(&solutions, l.Solutions, l, "solutions")
	}
	return definitions, solutions
}

func setList(v *Value[[]string], list []string, l layer, path string) {
	if list != nil {
		*v = Value[[]string]{slices.Clone(list), l.origin(path)}
	}
}

// stack lays each layer over those before it.
func stack(layers []layer) Resolved {
	r := Resolved{Outputs: map[string]OutputTolerance{}, Extra: map[string]Value[string]{}}
	for _, l := range layers {
		r.lay(l)
	}
	own := Value[float64]{0, builtIn} // the evaluator's
	if r.Mode.V == fib {
		own.V = fibTolerance
	}
	for _, v := range []*Value[float64]{&r.Rtol, &r.Atol} {
		if v.Origin == "" {
			*v = own
		}
	}
	r.RequiredMatchedRatio.Origin = cmp.Or(r.RequiredMatchedRatio.Origin, builtIn)
	return r
}

func (r *Resolved) lay(l layer) {
	set(&r.UseIsolatedRunner, l.UseIsolatedRunner, l, "use_isolated_runner")
	set(&r.TimeoutSeconds, l.TimeoutSeconds, l, "timeout_seconds")
	set(&r.ProfileBaseline, l.ProfileBaseline, l, "profile_baseline")
	set(&r.Mode, l.Mode, l, "mode")
	set(&r.WarmupRuns, l.WarmupRuns, l, "warmup_runs")
	set(&r.Iterations, l.Iterations, l, "iterations")
	set(&r.NumTrials, l.NumTrials, l, "num_trials")
	set(&r.Rtol, l.Rtol, l, "rtol")
	set(&r.Atol, l.Atol, l, "atol")
	set(&r.RequiredMatchedRatio, l.RequiredMatchedRatio, l, "required_matched_ratio")
	for name, t := range l.Outputs {
		at, o := element("outputs", name), r.Outputs[name]
		set(&o.Rtol, t.Rtol, l, at+".rtol")
		set(&o.Atol, t.Atol, l, at+".atol")
		set(&o.RequiredMatchedRatio, t.RequiredMatchedRatio, l, at+".required_matched_ratio")
		r.Outputs[name] = o
	}
	for key, text := range l.Extra {
		r.Extra[key] = Value[string]{text, l.origin(element("extra", key))}
	}
}

func set[T any](v *Value[T], p *T, l layer, path string) {
	if p != nil {
		*v = Value[T]{*p, l.origin(path)}
	}
}

// keys returns the keys that s sets.
func (s Settings) keys() map[string]bool {
	set := map[string]bool{
		"mode": s.Mode != nil, "warmup_runs": s.WarmupRuns != nil, "iterations": s.Iterations != nil, "num_trials": s.NumTrials != nil,
		"rtol": s.Rtol != nil, "atol": s.Atol != nil, "required_matched_ratio": s.RequiredMatchedRatio != nil,
	}
	maps.DeleteFunc(set, func(_ string, isSet bool) bool { return !isSet })
	return set
}

// evaluator returns the choice whose pattern matches the definition.
func (f *File) evaluator(definition string) (v Value[Evaluator], err error) {
	chosen := ""
	for _, glob := range slices.Sorted(maps.Keys(f.body.Evaluators)) {
		if match, _ := path.Match(glob, definition); !match {
			continue
		}
		at := element("evaluators", glob)
		if v.Origin != "" {
			return Value[Evaluator]{}, f.doc.Errorf(at, "matches definition %s, and so does %s: make one of the patterns narrower",
				show(definition), show(chosen))
		}
		chosen, v = glob, Value[Evaluator]{f.body.Evaluators[glob], f.origin(at, " "+at)}
	}
	v.Origin = cmp.Or(v.Origin, builtIn)
	return v, nil
}

// String returns the name, or the command as a list of quoted words.
func (e Evaluator) String() string {
	switch {
	case e.Name != "":
		return e.Name
	case e.Command != nil:
		return fmt.Sprintf("command %q", e.Command)
	}
	return "by definition"
}
