package kernels

import (
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/suite"
)

// Kind is the kind "kernels": definitions x solutions x workloads of a dataset.
var Kind = suite.Kind{
	Body: defaults(), Keys: keys, Open: Open, Watched: true, Demand: demand, Files: files, Report: report.Kind{Blocks: blocks},
}
