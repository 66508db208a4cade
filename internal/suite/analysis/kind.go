package analysis

import "github.com/accelgate/accelgate/internal/suite"

// Kind is the kind "analysis": packing and fidelity.
var Kind = suite.Kind{Inside: true, Body: defaults(), Keys: keys, Open: Open, Demand: demand, Recheck: Recheck, Files: files, Shown: shown}
