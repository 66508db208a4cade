package config

import "github.com/accelgate/accelgate/internal/text/lazyregexp"

// replacement is what stands in place of a key of earlier versions.
type replacement struct {
	path *lazyregexp.Regexp // of the mapping that had it
	hint string
}

func (r replacement) in(path string) bool { return r.path != nil && r.path.MatchString(path) }

// replaced are keys of earlier versions.
var replaced = map[string]replacement{
	"budgets": {lazyregexp.New(`^suites\[[0-9]+\]$`), "write an entry of limits with mean, as in limits: [{metric: decode_tps, mean: 1%}]"},
	"noise":   {lazyregexp.New(`\.limits\[[0-9]+\]$`), "write change: noise 1% to 10%, with the floor and the ceiling"},
}
