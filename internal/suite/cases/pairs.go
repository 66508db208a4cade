package cases

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
)

// Pair is two workloads that should take the same time: what auto-baseline
// measures.
type Pair struct {
	Name, Description string
	Type              string  // of both
	Tolerance         float64 // fraction of the baseline's time
	// Baseline and Compare are settings as in [casefile.Case].
	Baseline, Compare map[string]any

	own  *casefile.Case // the case that is compared with itself; nil for another pair
	file string         // of own
}

// defaultTolerance is that of a pair that does not say otherwise, as in the
// original.
const defaultTolerance = 0.05

// The key and the values by which a pair's cells differ.
const (
	inputKey      = "input"
	baselineInput = "baseline"
	compareInput  = "compare"
)

// BaselineCell returns the cell of the baseline input. Its suite is not filled
// in.
func (p *Pair) BaselineCell() bench.Cell { return p.cell(baselineInput) }

// CompareCell returns the cell of the input that is compared with it.
func (p *Pair) CompareCell() bench.Cell { return p.cell(compareInput) }

func (p *Pair) cell(input string) bench.Cell {
	cell := Cell(p.Name)
	cell.Params = append(cell.Params, bench.Param{Key: inputKey, Value: input})
	return cell
}

// NewCase returns the case that measures the baseline input, for a file with
// the given path. It has no numbers yet.
func (p *Pair) NewCase(path string) *casefile.Case {
	if p.own != nil {
		one := *p.own
		one.Path = path
		return &one
	}
	one := casefile.New(path, p.Type)
	one.Name, one.Description = p.Name, p.Description
	if p.Type == casefile.Video {
		one.Video = p.Baseline
	} else {
		one.UserInput = p.Baseline
	}
	return one
}

// OwnPairs pairs each of the suite's cases with itself; dir is the
// configuration's folder. A file that cannot be read is an error: nothing else
// would tell that it was left out.
func OwnPairs(c *config.Suite, dir string) ([]Pair, error) {
	b, err := load(c)
	if err != nil {
		return nil, err
	}
	list, unreadable, err := b.load(c, dir)
	if err != nil {
		return nil, err
	}
	if len(unreadable) > 0 {
		return nil, c.Errorf("cases", "%s", b.complaints(unreadable))
	}
	pairs := pairsOf(list)
	for i := range pairs {
		pairs[i].file = b.named(list[i].Path)
	}
	return pairs, nil
}

// pairsOf pairs each case with itself.
func pairsOf(list []*casefile.Case) []Pair {
	pairs := make([]Pair, 0, len(list))
	for _, one := range list {
		settings := one.UserInput
		if one.Type == casefile.Video {
			settings = one.Video
		}
		pairs = append(pairs, Pair{Name: one.Name, Description: one.Description, Type: one.Type, Tolerance: defaultTolerance,
			Baseline: settings, Compare: settings, own: one})
	}
	return pairs
}

// OpenPairs opens the inputs of pairs as a suite, with the commands of the
// configuration: two cells for each pair or, with aa, only that of the baseline
// input, which is to be measured repeatedly. The folder of cases is not opened.
func OpenPairs(c *config.Suite, env suite.Env, pairs []Pair, aa bool) (suite.Suite, error) {
	b, err := load(c)
	if err != nil {
		return nil, err
	}
	if err := b.checkDir(c, env.Dir); err != nil {
		return nil, err
	}
	b.Profiles = nil // they are of the folder
	var inputs []*input
	names := make(map[string]bool, len(pairs))
	for i := range pairs {
		p := &pairs[i]
		if names[p.Name] {
			return nil, fmt.Errorf("two pairs have the name %q: rename one of them", p.Name)
		}
		names[p.Name] = true
		inputs = append(inputs, p.input(p.BaselineCell(), p.Baseline))
		if !aa {
			inputs = append(inputs, p.input(p.CompareCell(), p.Compare))
		}
	}
	return open(c, env, b, inputs), b.checkEngineArgs(c, env.EngineArgs, inputs)
}

func (p *Pair) input(cell bench.Cell, settings map[string]any) *input {
	var in *input
	if p.own != nil {
		in = newInput(p.own, p.file)
	} else {
		in = &input{name: p.Name, typ: p.Type, settings: settings}
		in.tags = in.ownTags(nil)
	}
	in.cell = cell
	return in
}
