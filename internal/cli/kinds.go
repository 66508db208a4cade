package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/models"
)

// kinds is the table of suite kinds. A new kind is a folder below suite and a
// line here.
var kinds = map[string]suite.Open{
	"models": models.Open,
}

func kindNames() string { return strings.Join(slices.Sorted(maps.Keys(kinds)), ", ") }
