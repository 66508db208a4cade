package cases

import (
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/cases/operators"
)

// Kind is the kind "cases": one file per case.
var Kind = suite.Kind{
	Body:      defaults(),
	Keys:      keys,
	Open:      Open,
	Expect:    Expect,
	Operators: operators.Judge,
	Demand:    demand,
	Files:     files,
	Limits:    limits,
	Shown:     onlyShown,
	Watched:   true,
	Report: report.Kind{Largest: largest, Parts: parts, Formats: []report.Format{
		{Name: "cases", Render: Markdown}, {Name: "check", Render: PrintCheck}, {Name: "test", Render: PrintTest},
	}},
}
