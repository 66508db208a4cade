package endpoint

import "github.com/accelgate/accelgate/internal/suite"

// Kind is the kind "endpoint": loads on servers of language models.
var Kind = suite.Kind{Body: defaults(), Keys: keys, Open: Open, Demand: Demand, Recheck: Recheck, Files: files}
