package kernels

import "github.com/accelgate/accelgate/internal/suite/kernels/evalconfig"

// flags are laid over the evaluation settings, as FlashInfer-Bench's options
// are. A nil value says nothing.
type flags struct {
	Mode                 *string  `yaml:"mode"`
	WarmupRuns           *int     `yaml:"warmup_runs"`
	Iterations           *int     `yaml:"iterations"`
	NumTrials            *int     `yaml:"num_trials"`
	Rtol                 *float64 `yaml:"rtol"`
	Atol                 *float64 `yaml:"atol"`
	RequiredMatchedRatio *float64 `yaml:"required_matched_ratio"`
	ProfileBaseline      *bool    `yaml:"profile_baseline"`
	TimeoutSeconds       *int     `yaml:"timeout_seconds"`
}

func (f flags) overrides() evalconfig.Overrides {
	return evalconfig.Overrides{
		Run: evalconfig.Run{ProfileBaseline: f.ProfileBaseline, TimeoutSeconds: f.TimeoutSeconds},
		Settings: evalconfig.Settings{
			Mode:                 f.Mode,
			WarmupRuns:           f.WarmupRuns,
			Iterations:           f.Iterations,
			NumTrials:            f.NumTrials,
			Rtol:                 f.Rtol,
			Atol:                 f.Atol,
			RequiredMatchedRatio: f.RequiredMatchedRatio,
		},
	}
}
