package measure

import "github.com/accelgate/accelgate/internal/version"

// Tool names this build in runs, reports and baselines.
func Tool() string { return "accelgate " + version.String() }

// Version is the version of this build.
func Version() string { return version.String() }
