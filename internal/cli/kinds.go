package cli

import (
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/analysis"
	"github.com/accelgate/accelgate/internal/suite/cases"
	"github.com/accelgate/accelgate/internal/suite/endpoint"
	"github.com/accelgate/accelgate/internal/suite/exec"
	"github.com/accelgate/accelgate/internal/suite/kernels"
	"github.com/accelgate/accelgate/internal/suite/models"
)

// kinds is the table of suite kinds. A new kind is a folder below suite and a
// line here.
var kinds = map[string]suite.Kind{
	"analysis": analysis.Kind,
	"exec":     exec.Kind,
	"cases":    cases.Kind,
	"endpoint": endpoint.Kind,
	"kernels":  kernels.Kind,
	"models":   models.Kind,
}
