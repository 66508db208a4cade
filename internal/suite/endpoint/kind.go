package endpoint

import (
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/suite"
)

// Kind is the kind "endpoint": loads on servers of language models.
var Kind = suite.Kind{
	Body: defaults(), Keys: keys, Open: open, Watched: true, Demand: demand, Recheck: recheck, Files: files, Shown: shown,
	Report: report.Kind{Blocks: blocks, Figures: drawings},
}
