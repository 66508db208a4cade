package suite

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Profile returns the profile that the query names, and refuses a profile or
// tag that the suite does not have: a misspelling would measure too little.
func Profile[P any](q Query, profiles map[string]P, tags []string) (P, error) {
	profile, ok := profiles[q.Profile]
	if q.Profile != "" && !ok {
		return profile, fmt.Errorf("no profile %q%s", q.Profile, orAdd("profiles", slices.Sorted(maps.Keys(profiles))))
	}
	for _, tag := range slices.Concat(q.Tags, q.SkipTags) {
		if !slices.Contains(tags, tag) {
			return profile, fmt.Errorf("no tag %q%s", tag, orAdd("tags", tags))
		}
	}
	return profile, nil
}

// Wants reports whether a cell with these tags is among what the query's tags
// select; its profile is not asked.
func (q Query) Wants(tags []string) bool {
	has := func(some []string) bool {
		return slices.ContainsFunc(tags, func(t string) bool { return slices.Contains(some, t) })
	}
	return (len(q.Tags) == 0 || has(q.Tags)) && !has(q.SkipTags)
}

// orAdd returns what there is, or that something must be added first.
func orAdd(what string, names []string) string {
	if len(names) == 0 {
		return ", nor any other: add " + what + " to it"
	}
	return ": it has " + strings.Join(names, ", ")
}
