package casefile

import (
	"cmp"
	"slices"
	"strings"
)

// group reads a file with several cases. One without any yields a case of type
// [Grouped], so that the group is not lost.
func (r *reader) group(root value) []*Case {
	g := &Group{}
	var cases value
	given := r.object(root, caseKeys(Grouped), func(key string, v value) {
		switch key {
		case "name":
			g.Name = r.name(v)
		case "description":
			g.Description, _ = r.textOf(v)
		case "group_tolerance":
			if t := r.optional(v); t != nil {
				g.Tolerance, g.Own = *t, true
			}
		case "sub_cases":
			cases = v
		}
	})
	r.require(root, given, "name", "sub_cases")
	switch cases.Kind {
	case 0, 'n':
	case '{':
		g.Cases = r.grouped(g, cases)
	default:
		r.fail(cases.At, "write an object with a case for each name", "want an object, got %s", describe(cases))
	}
	if len(g.Cases) == 0 {
		return []*Case{{Path: r.path, Name: g.Name, Description: g.Description, Type: Grouped, Group: g}}
	}
	if !g.Own {
		g.Tolerance = slices.MinFunc(g.Cases, func(a, b *Case) int {
			return cmp.Compare(a.BaselineTolerance, b.BaselineTolerance)
		}).BaselineTolerance
	}
	return g.Cases
}

// maxGrouped bounds the cases of a group; the real one has 4.
const maxGrouped = 1000

// grouped reads the cases of a group, in its order.
func (r *reader) grouped(g *Group, v value) []*Case {
	if len(v.Members) > maxGrouped {
		r.fail(v.At, "split the group", "has more than %d cases", maxGrouped)
		return nil
	}
	list := make([]*Case, 0, len(v.Members))
	for i, m := range v.Members {
		c := New(r.path, Text)
		c.Name, c.Group = m.Key, g
		switch {
		case strings.TrimSpace(m.Key) == "":
			r.fail(m.KeyAt, "name the case", "the name of the case is empty")
		case slices.ContainsFunc(v.Members[:i], func(other member) bool { return other.Key == m.Key }):
			r.fail(m.KeyAt, "remove one of the two", "is given twice")
		}
		given := r.object(m.Value, &groupedKeys, func(key string, v value) { r.member(c, key, v) })
		r.require(m.Value, given, "description")
		list = append(list, c)
	}
	return list
}
