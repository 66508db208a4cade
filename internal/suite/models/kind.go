package models

import "github.com/accelgate/accelgate/internal/suite"

// Kind is the kind "models": models x backends x features x environment sweeps.
var Kind = suite.Kind{
	Body:    defaults(),
	Keys:    keys,
	Open:    Open,
	Demand:  demand,
	Recheck: Recheck,
	Limits:  limits,
	Shown:   shown,
	Files:   files,
	Watched: true,
}
