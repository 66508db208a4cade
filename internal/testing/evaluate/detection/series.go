// Package detection measures how often the rules of package detect are wrong: on
// public histories of benchmarks, on pairs with known extra work, and on
// generated noise, with the rules that others use beside them.
//
// A null trial takes runs of one cell between which nothing changed, as the
// whole history shows in hindsight, and judges the later ones by the earlier
// ones. Multiplying the later ones makes a slow-down of known size. Nothing of
// this has the truth of an old history for certain, so the same trials are
// given to every rule.
package detection

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Series is the history of one cell on one host, the oldest run first.
type Series struct {
	Name   string
	Runs   []int     // index of the run that each value is of, ascending
	Values []float64 // larger is worse: reciprocals where higher is better
	Level  []int     // which level each value belongs to, as seen in hindsight
	Noise  float64   // of one run around its level, relative
}

// Set is a group of cells that were measured together.
type Set struct {
	Name        string
	Accelerator bool
	Series      []Series

	window window
}

// setNames are the development series with how they were measured.
var setNames = []struct {
	name        string
	accelerator bool
}{
	{"cuda_jl", true}, {"ur_bmg_l0", true}, {"tensordict", false}, {"ig_benchmarks", false}, {"otel_java", false},
}

// Load reads the development series of a folder.
func Load(dir string) ([]Set, error) {
	var sets []Set
	for _, n := range setNames {
		var file document
		if err := readGzip(filepath.Join(dir, n.name+".json.gz"), &file); err != nil {
			return nil, err
		}
		split, err := file.hosts(n.name, n.accelerator)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.name, err)
		}
		sets = append(sets, split...)
	}
	for i := range sets {
		sets[i].window = sets[i].runs()
	}
	return sets, nil
}

type document struct {
	Series []struct {
		Name          string  `json:"name"`
		LowerIsBetter bool    `json:"lower_is_better"`
		Points        [][]any `json:"pts"`
	} `json:"series"`
}

// Columns of a point.
const (
	runColumn   = 0
	valueColumn = 4
	hostColumn  = 6
)

// hosts splits a file by host, because a cell of another machine is another
// cell.
func (d *document) hosts(name string, accelerator bool) ([]Set, error) {
	byHost := map[string]*Set{}
	for i, s := range d.Series {
		parts := map[string]*Series{}
		for _, p := range s.Points {
			run, value, host, err := point(p, s.LowerIsBetter)
			if err != nil {
				return nil, fmt.Errorf("series %d: %w", i, err)
			}
			if parts[host] == nil {
				parts[host] = &Series{Name: s.Name}
			}
			parts[host].Runs = append(parts[host].Runs, run)
			parts[host].Values = append(parts[host].Values, value)
		}
		for host, part := range parts {
			if byHost[host] == nil {
				byHost[host] = &Set{Name: name + host, Accelerator: accelerator}
			}
			part.label()
			byHost[host].Series = append(byHost[host].Series, *part)
		}
	}
	var sets []Set
	for _, s := range byHost {
		sets = append(sets, *s)
	}
	slices.SortFunc(sets, func(a, b Set) int { return strings.Compare(a.Name, b.Name) })
	return sets, nil
}

func point(p []any, lowerIsBetter bool) (run int, value float64, host string, err error) {
	if len(p) <= valueColumn {
		return 0, 0, "", fmt.Errorf("a point of %d fields", len(p))
	}
	index, ok1 := p[runColumn].(float64)
	value, ok2 := p[valueColumn].(float64)
	if !ok1 || !ok2 || !(value > 0) || math.IsInf(value, 0) {
		return 0, 0, "", fmt.Errorf("a point without a run or a positive value")
	}
	if !lowerIsBetter {
		value = 1 / value
	}
	if len(p) > hostColumn {
		name, _ := p[hostColumn].(string)
		host = "/" + name
	}
	return int(index), value, host, nil
}

func readGzip(path string, into any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := json.NewDecoder(z).Decode(into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// index returns where a run is in the series, -1 if it is not.
func (s *Series) index(run int) int {
	i, ok := slices.BinarySearch(s.Runs, run)
	if !ok {
		return -1
	}
	return i
}

// before returns what values has of the runs before a run, NaN where there is
// none.
func (s *Series) before(run int, values []float64) []float64 {
	out := make([]float64, min(run, historySpan))
	for i := range out {
		out[i] = math.NaN()
		if at := s.index(run - len(out) + i); at >= 0 {
			out[i] = values[at]
		}
	}
	return out
}
