// Package tensorsharp reads what TensorSharp.TestMatrix reads and writes: its
// configuration, matrix-config.json, which becomes the text of an equivalent
// accelgate.yaml, and its folder of results, which becomes a [bench.Run].
// Baselines are read by package baseline.
//
// It has the shapes of those files and where things lie in TensorSharp's
// repository. Backends, features and variables are data of the models kind's
// tensorsharp preset.
//
// The shapes are those of TensorSharp.TestMatrix at commit 4d29dd2b of
// github.com/zhongkaifu/TensorSharp.
package tensorsharp

// Config is a matrix-config.json. Absent members have TensorSharp's defaults,
// except ModelDir, which has none here: TensorSharp's is a folder of its
// author.
type Config struct {
	ModelDir      string // of the *.gguf files
	CLIExecutable string // "" means that it is looked for
	MediaDir      string // "" means the folder of the inputs
	ResultsDir    string
	ReportPath    string

	// Empty lists select everything that is registered.
	DefaultBackends []string
	DefaultFeatures []string
	DefaultEnvVars  []string

	Models []Model

	TimeoutSeconds int // of one cell
	WarmupRuns     int // inside the process, of cells that answer a prompt
	BenchmarkRuns  int // inside the process, of synthetic cells
	SkipExisting   bool
	MaxParallel    int // TensorSharp never reads it

	BaselinesDir           string
	RegressionThresholdPct float64 // from 0 to below 100

	name string // of the file, for messages
}

// Model is a model that the configuration spells out. What it says counts,
// and nothing is guessed from the name of its file.
type Model struct {
	ID          string
	Family      string
	DisplayName string
	GGUF        string // relative to ModelDir, or absolute
	MMProj      string // as GGUF; "" if there is none

	SupportsImage    bool
	SupportsAudio    bool
	SupportsVideo    bool
	SupportsTools    bool
	SupportsThinking bool

	Enabled bool
}

// defaults are TensorSharp's.
func defaults(name string) *Config {
	return &Config{
		name:       name,
		ResultsDir: "results", ReportPath: "report.md",
		TimeoutSeconds: 900, WarmupRuns: 1, BenchmarkRuns: 3, MaxParallel: 1,
		BaselinesDir: "TensorSharp.TestMatrix/Baselines", RegressionThresholdPct: 10,
	}
}

// member is one member of a JSON object that is read. The type of the value
// that it points to is the type that the file must have.
type member struct {
	name string
	into any // *string, *[]string, *int, *bool, *float64, *[]Model
	// nullable members may be null, which leaves them as they are.
	nullable bool
	// low and high bound a number, both inclusive.
	low, high float64
}

const maxRuns = 1_000_000

// members in the order of TensorSharp's own file.
func (c *Config) members() []member {
	return []member{
		{name: "model_dir", into: &c.ModelDir},
		{name: "cli_executable", into: &c.CLIExecutable},
		{name: "media_dir", into: &c.MediaDir, nullable: true},
		{name: "results_dir", into: &c.ResultsDir},
		{name: "report_path", into: &c.ReportPath},
		{name: "default_backends", into: &c.DefaultBackends},
		{name: "default_features", into: &c.DefaultFeatures},
		{name: "default_env_vars", into: &c.DefaultEnvVars},
		{name: "timeout_seconds", into: &c.TimeoutSeconds, low: 1, high: 1e6},
		{name: "warmup_runs", into: &c.WarmupRuns, high: maxRuns},
		{name: "benchmark_runs", into: &c.BenchmarkRuns, low: 1, high: maxRuns},
		{name: "skip_existing", into: &c.SkipExisting},
		{name: "max_parallel", into: &c.MaxParallel, low: -maxRuns, high: maxRuns},
		{name: "baselines_dir", into: &c.BaselinesDir},
		{name: "regression_threshold_pct", into: &c.RegressionThresholdPct, high: 99.999},
		{name: "models", into: &c.Models},
	}
}

func (m *Model) members() []member {
	return []member{
		{name: "id", into: &m.ID},
		{name: "family", into: &m.Family},
		{name: "display_name", into: &m.DisplayName},
		{name: "gguf", into: &m.GGUF},
		{name: "mmproj", into: &m.MMProj, nullable: true},
		{name: "supports_image", into: &m.SupportsImage},
		{name: "supports_audio", into: &m.SupportsAudio},
		{name: "supports_video", into: &m.SupportsVideo},
		{name: "supports_tools", into: &m.SupportsTools},
		{name: "supports_thinking", into: &m.SupportsThinking},
		{name: "enabled", into: &m.Enabled},
	}
}

func names(members []member) []string {
	all := make([]string, 0, len(members))
	for _, m := range members {
		all = append(all, m.name)
	}
	return all
}
