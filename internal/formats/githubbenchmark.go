package formats

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// githubHead begins the data.js of github-action-benchmark.
var githubHead = []byte("window.BENCHMARK_DATA")

func isGitHubData(data []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(data), githubHead) }

// isGitHubCustom reports an element of the list that its custom tools take.
func isGitHubCustom(o object) bool { return o.has("name", "unit", "value") }

// githubBench is a benchmark of data.js, or of a custom tool's list.
type githubBench struct {
	Name  string      `json:"name"`
	Unit  string      `json:"unit"`
	Value json.Number `json:"value"`
}

// githubEntry is what one commit measured.
type githubEntry struct {
	Commit struct {
		ID string `json:"id"`
	} `json:"commit"`
	Tool    string        `json:"tool"`
	Benches []githubBench `json:"benches"`
}

// githubHigher are the tools whose values are better higher, by
// benchmark-action/github-action-benchmark's src/write/biggerIsBetter.ts.
// It takes those of JMH for times; here a throughput of JMH is one.
var githubHigher = map[string]bool{"benchmarkjs": true, "pytest": true, "customBiggerIsBetter": true}

// githubData reads data.js, of each suite the entry that was added last. The name is
// the benchmark's, and SUITE/BENCHMARK where the file has several suites. The metric
// is the unit, or "value" where there is none.
func githubData(data []byte) (*sheet, error) {
	at := bytes.Index(data, githubHead)
	if at < 0 {
		if custom, err := saved(data, isGitHubCustom); err != nil || len(custom) == 0 {
			return nil, err
		}
		return nil, errors.New(
			"the file does not state which values are better: add --format customBiggerIsBetter or --format customSmallerIsBetter " +
				"to the import, or write the name as the suite's parser",
		)
	}
	_, document, _ := bytes.Cut(data[at:], []byte("="))
	found, err := saved(bytes.TrimSpace(document), func(o object) bool { return o.has("entries") })
	if err != nil || len(found) == 0 {
		return nil, cmp.Or(err, errors.New("data.js has no entries: see whether the action wrote it whole"))
	}
	var suites map[string][]githubEntry
	if err := json.Unmarshal(found[0]["entries"], &suites); err != nil {
		return nil, fmt.Errorf(
			"the entries of data.js are not those of github-action-benchmark (%.200v): see whether the action wrote the file", err)
	}
	s := &sheet{key: "benchmark"}
	var commits []string
	for _, name := range slices.Sorted(maps.Keys(suites)) {
		prefix := ""
		if len(suites) > 1 {
			prefix = name + "/"
		}
		commit, err := s.githubSuite(prefix, suites[name])
		if err != nil {
			return nil, err
		}
		commits = append(commits, commit)
	}
	if commits = slices.Compact(commits); len(commits) == 1 && commitID.MatchString(commits[0]) {
		s.revision = commits[0]
	}
	return s, nil
}

var commitID = lazyregexp.New(`^[0-9a-f]{7,64}$`)

// githubSuite adds what was measured last, and returns the commit.
func (s *sheet) githubSuite(prefix string, entries []githubEntry) (commit string, err error) {
	if len(entries) == 0 {
		return "", nil
	}
	last := entries[len(entries)-1]
	if len(entries) > 1 {
		s.warn("data.js holds %s, of which the last was read: import an older data.js for an older commit",
			text.Plural(len(entries), "commit"))
	}
	for _, b := range last.Benches {
		better := bench.Lower
		if githubHigher[last.Tool] || last.Tool == "jmh" && strings.HasPrefix(b.Unit, "ops/") {
			better = bench.Higher
		}
		if err := s.githubBench(prefix, b, better); err != nil {
			return "", err
		}
	}
	return last.Commit.ID, nil
}

func (s *sheet) githubBench(prefix string, b githubBench, better bench.Direction) error {
	v, err := finite(b.Value.String())
	if err != nil || b.Name == "" {
		return fmt.Errorf("the benchmark %s has no name or no number as its value: see what wrote it", text.Quote(b.Name, 200))
	}
	m := bench.Metric{Name: text.Line(b.Unit, 80), Unit: text.Line(b.Unit, 80), Better: better}
	m.Name = cmp.Or(m.Name, "value")
	if m.Quantity() == 0 {
		m.Kind = bench.Score // a custom tool may report any number
	}
	return s.add(prefix+b.Name, m, v)
}

func customBigger(data []byte) (*sheet, error) { return githubCustom(data, bench.Higher) }

func customSmaller(data []byte) (*sheet, error) { return githubCustom(data, bench.Lower) }

// githubCustom reads the list [{name, unit, value}] of the action's tools customBiggerIsBetter
// and customSmallerIsBetter, which only a name can tell apart.
func githubCustom(data []byte, better bench.Direction) (*sheet, error) {
	found, err := saved(data, isGitHubCustom)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	s := &sheet{key: "benchmark"}
	for _, o := range found {
		var b githubBench
		if remake(o, &b) != nil {
			return nil, fmt.Errorf("the value %.40q of a benchmark is not a number: write {name, unit, value}", o["value"])
		}
		if err := s.githubBench("", b, better); err != nil {
			return nil, err
		}
	}
	return s, nil
}
