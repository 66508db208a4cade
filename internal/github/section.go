package github

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// section is the part of a shared comment that one writer owns. Its hidden line has the
// number of bytes below it, so nothing in a text is ever read as the next line:
//
//	<!-- accelgate section v=1 key=KEY seq=RUN.ATTEMPT bytes=N sum=sha256:DIGEST state=STATE -->
type section struct {
	marker
	body string
}

var sectionLine = lazyregexp.New(
	`^<!-- accelgate section v=1 key=(\S+) seq=(\d{1,19})\.(\d{1,19}) bytes=(\d{1,6}) sum=sha256:([0-9a-f]{64})(?: state=([a-z0-9_-]{1,40}))? -->$`,
)

// between separates sections. The blank line begins a new block of Markdown.
const between = "\n\n"

// anotherLine is what is left for the line of a second section, in bytes.
const anotherLine = 1000

// maxSections bounds the sections of a comment. Those of the oldest runs go first.
const maxSections = 64

func newSection(key string, seq Seq, state, body string) section {
	body = normal(body)
	return section{marker{key: key, seq: seq, state: state, sum: digest(body)}, body}
}

// line is the hidden line.
func (s section) line() string {
	state := ""
	if s.state != "" {
		state = " state=" + s.state
	}
	return fmt.Sprintf("<!-- accelgate section v=1 key=%s seq=%s bytes=%d sum=sha256:%s%s -->", escapeKey(s.key), s.seq, len(s.body), s.sum,
		state)
}

func (s section) String() string { return s.line() + "\n" + s.body }

// sectionsIn reads the sections of a comment by their keys. What does not follow the
// form exactly, or was edited, is left out with all that is below it.
func sectionsIn(body string) map[string]section {
	all := map[string]section{}
	for rest := normal(body); len(all) < maxSections; {
		line, below, _ := strings.Cut(rest, "\n")
		found := sectionLine.FindStringSubmatch(line)
		if found == nil {
			return all
		}
		key, valid := unescapeKey(found[1])
		seq, known := parseSeq(found[2], found[3])
		n, _ := strconv.Atoi(found[4]) // six digits
		if !valid || !known || n > len(below) {
			return all
		}
		s := section{marker{key: key, seq: seq, sum: found[5], state: found[6]}, below[:n]}
		if s.sum != digest(s.body) || s.body != normal(s.body) {
			return all
		}
		if _, twice := all[key]; !twice {
			all[key] = s
		}
		next, more := strings.CutPrefix(below[n:], between)
		if !more {
			return all
		}
		rest = next
	}
	return all
}

// sectionsOf are the sections of several comments, of each key that of the newest run.
// Of one run the first counts.
func sectionsOf(comments []posted) map[string]section {
	all := map[string]section{}
	for _, c := range comments {
		for key, s := range sectionsIn(c.body) {
			if there, ok := all[key]; !ok || s.seq.compare(there.seq) > 0 {
				all[key] = s
			}
		}
	}
	return all
}

// joined puts sections into limit bytes, by rank and then by key, and returns the
// writer's own, whose text the ladder renders into an equal share, of two at least. The
// others stay as they are, byte for byte. Where all do not fit, those larger than their
// share give way to a line that names their key.
func joined(others map[string]section, own section, post Post, limit int) (string, section, error) {
	all := maps.Clone(others)
	all[own.key] = own
	forgetOldest(all, own.key)
	free := limit
	for _, s := range all {
		free -= len(between) + len(s.line()) + len("999999\n")
	}
	if len(all) == 1 {
		free -= anotherLine
	}
	share := max(free, 0) / max(len(all), 2)
	body, err := post.Body.at(share)
	if err != nil {
		return "", section{}, err
	}
	own = newSection(own.key, own.seq, own.state, body)
	all[own.key] = own
	for over := total(all) - free; over > 0; over = total(all) - free {
		largest := all[slices.MaxFunc(slices.Sorted(maps.Keys(all)), func(a, b string) int { return len(all[a].body) - len(all[b].body) })]
		stub := largest.stub()
		if largest.key == own.key || len(stub.body) >= len(largest.body) {
			return "", section{}, fmt.Errorf("the text is %s too long: shorten it", text.Plural(over, "byte"))
		}
		all[largest.key] = stub
	}
	keys := slices.Sorted(maps.Keys(all))
	if post.Rank != nil {
		slices.SortStableFunc(keys, func(a, b string) int { return post.Rank(all[b].state) - post.Rank(all[a].state) })
	}
	var parts []string
	for _, key := range keys {
		parts = append(parts, all[key].String())
	}
	return strings.Join(parts, between), own, nil
}

// stub stands for a section that does not fit.
func (s section) stub() section {
	return newSection(s.key, s.seq, s.state, fmt.Sprintf("`%s`: the report does not fit into this comment. The check of this name has it.",
		strings.ReplaceAll(strings.Join(strings.Fields(s.key), " "), "`", "'")))
}

func total(all map[string]section) (n int) {
	for _, s := range all {
		n += len(s.body)
	}
	return n
}

// forgetOldest keeps the sections of the newest runs, and that of keep.
func forgetOldest(all map[string]section, keep string) {
	for len(all) > maxSections {
		delete(all, slices.MinFunc(slices.Sorted(maps.Keys(all)), func(a, b string) int {
			if (a == keep) != (b == keep) {
				return map[bool]int{true: 1, false: -1}[a == keep]
			}
			return all[a].seq.compare(all[b].seq)
		}))
	}
}
