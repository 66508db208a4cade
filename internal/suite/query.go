package suite

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// Query selects cells by what the configuration calls them. The zero value
// selects every cell.
type Query struct {
	Profile  string   // name of a profile; "" for all cells
	Tags     []string // a cell has at least one of them; empty for any
	SkipTags []string // a cell has none of them
}

// Select returns which cells a query selects. It refuses a profile or tag that the
// suite does not have: a misspelling would measure too little.
func (p Plan) Select(q Query) (func(bench.Cell) bool, error) {
	profile, ok := p.Profiles[q.Profile]
	if q.Profile != "" && !ok {
		return nil, fmt.Errorf("no profile %q%s", q.Profile, butOthers(slices.Sorted(maps.Keys(p.Profiles))))
	}
	for _, tag := range slices.Concat(q.Tags, q.SkipTags) {
		if !slices.Contains(p.Tags, tag) {
			return nil, fmt.Errorf("no tag %q%s", tag, butOthers(p.Tags))
		}
	}
	return func(c bench.Cell) bool {
		if q.Profile != "" && !profile(c) {
			return false
		}
		if p.TagsOf == nil {
			return q.wants(nil)
		}
		return q.wants(p.TagsOf(c))
	}, nil
}

// wants reports whether the query's tags select a cell with these tags.
func (q Query) wants(tags []string) bool {
	has := func(some []string) bool {
		return slices.ContainsFunc(tags, func(t string) bool { return slices.Contains(some, t) })
	}
	return (len(q.Tags) == 0 || has(q.Tags)) && !has(q.SkipTags)
}

// butOthers lists the names that there are.
func butOthers(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ", but " + strings.Join(names, ", ")
}
