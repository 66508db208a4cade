package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/analysis"
	"github.com/accelgate/accelgate/internal/suite/cases"
	"github.com/accelgate/accelgate/internal/suite/endpoint"
	"github.com/accelgate/accelgate/internal/suite/kernels"
	"github.com/accelgate/accelgate/internal/suite/models"
)

// kinds is the table of suite kinds. A new kind is a folder below suite and a
// line here.
var kinds = map[string]suite.Open{
	"analysis": analysis.Open,
	"cases":    cases.Open,
	"endpoint": endpoint.Open,
	"kernels":  kernels.Open,
	"models":   models.Open,
}

// expects is the table of kinds whose own files say what their cells should
// measure.
var expects = map[string]suite.Expect{
	"cases": cases.Expect,
}

// demands is a table of gated metrics by kind.
var demands = map[string]suite.Demand{
	"analysis": analysis.Demand,
	"cases":    cases.Demand,
	"endpoint": endpoint.Demand,
	"kernels":  kernels.Demand,
	"models":   models.Demand,
}

// rechecks is the table of kinds whose cells record the answer that was judged.
var rechecks = map[string]suite.Recheck{
	"models": models.Recheck,
}

func kindNames() string { return strings.Join(slices.Sorted(maps.Keys(kinds)), ", ") }
