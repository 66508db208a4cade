package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// runners checks what the list of runners says of suites and of one another.
func (d *decoder) runners(f *File, n ast.Node) {
	seq, ok := d.resolve(n).(*ast.SequenceNode)
	if !ok {
		return // said already
	}
	seen := map[string]int{}
	for i := range min(len(f.Runners), len(seq.Values)) {
		r, at, path := f.Runners[i], seq.Values[i], fmt.Sprintf("runners[%d]", i)
		if first, twice := seen[r.Host]; twice && r.Host != "" {
			d.fail(start(d.at(at, path+".host")), fmt.Sprintf("%s.host: runners[%d] has %s as well", path, first, quote(r.Host)), "keep one entry for each host")
		}
		seen[r.Host] = i
		d.runner(f, &r, at, path)
	}
}

func (d *decoder) runner(f *File, r *Runner, at ast.Node, path string) {
	if r.Shards < 0 || r.Shards > maxShards {
		d.fail(start(d.at(at, path+".shards")), fmt.Sprintf("%s.shards: is %d", path, r.Shards), fmt.Sprintf("write 1 to %d", maxShards))
	}
	d.notNegative(at, path+".longest", r.Longest)
	if r.Longest > 0 && r.Shards > 0 {
		d.fail(start(d.at(at, path+".shards")), path+".shards: longest is given as well", "keep one: longest makes as many shards as it needs")
	}
	if r.Suites != nil && len(r.Suites) == 0 {
		d.fail(start(d.at(at, path+".suites")), path+".suites: is empty", "name the suites that the host measures, or remove the key")
	}
	for _, name := range r.Suites {
		if !slices.ContainsFunc(f.Suites, func(s Suite) bool { return s.Name == name }) {
			d.fail(start(d.at(at, path+".suites")), fmt.Sprintf("%s.suites: no suite is named %s", path, quote(name)), "use one of "+strings.Join(suiteNames(f.Suites), ", "))
		}
	}
}

func suiteNames(suites []Suite) (list []string) {
	for i := range suites {
		list = append(list, suites[i].Name)
	}
	return list
}
