package evalconfig

// Run holds what is the same for all definitions. Nil means that a layer does
// not say.
type Run struct {
	UseIsolatedRunner *bool `yaml:"use_isolated_runner"` // a process for each case
	TimeoutSeconds    *int  `yaml:"timeout_seconds"`     // of one case with its build
	ProfileBaseline   *bool `yaml:"profile_baseline"`    // time the reference too
	// Definitions and Solutions, if any, are the only ones to run.
	Definitions []string `yaml:"definitions"`
	Solutions   []string `yaml:"solutions"`
}

// Settings are what a layer says of a definition's evaluation. Nil means that
// the layer below counts.
type Settings struct {
	Mode                 *string  `yaml:"mode"` // "fib" or "strict"
	WarmupRuns           *int     `yaml:"warmup_runs"`
	Iterations           *int     `yaml:"iterations"` // timed, per trial
	NumTrials            *int     `yaml:"num_trials"` // sets of inputs
	Rtol                 *float64 `yaml:"rtol"`
	Atol                 *float64 `yaml:"atol"`
	RequiredMatchedRatio *float64 `yaml:"required_matched_ratio"` // share of elements within the tolerance, in (0,1]
}

// tolerance is what a layer says of one output.
type tolerance struct {
	Rtol                 *float64 `yaml:"rtol"`
	Atol                 *float64 `yaml:"atol"`
	RequiredMatchedRatio *float64 `yaml:"required_matched_ratio"`
}

// eval is what a file says of an op type or of a definition.
type eval struct {
	Settings
	Outputs map[string]tolerance `yaml:"outputs"` // by the name of the output
	Extra   map[string]string    `yaml:"extra"`   // values as they were written
}

// Overrides are what flags say. Their zero value says nothing.
type Overrides struct {
	Run
	Settings
}

// Evaluator is the user's choice of who judges: one of accelgate's evaluators
// by name, or a command. Exactly one is set, or neither where nothing was
// chosen.
type Evaluator struct {
	Name    string   `yaml:"name,scalar"`
	Command []string `yaml:"command"`
}

// body is the whole file: FlashInfer-Bench's BenchmarkConfig, and mode, outputs
// and evaluators, which are accelgate's.
type body struct {
	Run
	Settings
	OpTypeConfig     map[string]eval `yaml:"op_type_config"`
	DefinitionConfig map[string]eval `yaml:"definition_config"`

	LogDir                   *string  `yaml:"log_dir"` // these three are deprecated
	SamplingValidationTrials *int     `yaml:"sampling_validation_trials"`
	SamplingTVDThreshold     *float64 `yaml:"sampling_tvd_threshold"`

	Outputs    map[string]tolerance `yaml:"outputs"`
	Evaluators map[string]Evaluator `yaml:"evaluators"` // by a glob on definitions
}
