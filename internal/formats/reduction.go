package formats

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// Reduction makes one number of many steps. It comes from [ParseSteps].
type Reduction struct {
	words []word
}

// word leaves some of the steps, or, as the last one, makes a number of them.
type word struct {
	name     string
	n        float64
	step     string
	limit    Tolerance
	file     string
	recorded []Point
}

// left are the steps that are left after some words.
type left struct {
	points []Point
	of     int // steps before the first outliers or misses; -1 before these
}

// shorten are the words that leave some of the steps.
var shorten = map[string]func(*word, []Point) ([]Point, error){
	"skip":  func(w *word, p []Point) ([]Point, error) { return p[min(int(w.n), len(p)):], w.enough(p, 1) },
	"first": func(w *word, p []Point) ([]Point, error) { return p[:min(int(w.n), len(p))], w.enough(p, 0) },
	"last":  func(w *word, p []Point) ([]Point, error) { return p[max(0, len(p)-int(w.n)):], w.enough(p, 0) },
	"from":  func(w *word, p []Point) ([]Point, error) { i, err := find(p, w.step); return p[i:], err },
	"to":    func(w *word, p []Point) ([]Point, error) { i, err := find(p, w.step); return p[:min(i+1, len(p))], err },
	"outliers": func(w *word, p []Point) ([]Point, error) {
		beyond := w.n * stats.Median(valuesOf(p))
		return slices.DeleteFunc(slices.Clone(p), func(one Point) bool { return one.Value <= beyond }), nil
	},
	"misses": func(w *word, p []Point) ([]Point, error) { return w.misses(p) },
}

// reduce are the words that yield a number.
var reduce = map[string]func(*word, left) (float64, error){
	"mean":   func(_ *word, s left) (float64, error) { return sum(s.points) / float64(len(s.points)), nil },
	"median": func(_ *word, s left) (float64, error) { return stats.Median(valuesOf(s.points)), nil },
	"min":    func(_ *word, s left) (float64, error) { return slices.Min(valuesOf(s.points)), nil },
	"max":    func(_ *word, s left) (float64, error) { return slices.Max(valuesOf(s.points)), nil },
	"sum":    func(_ *word, s left) (float64, error) { return sum(s.points), nil },
	"p":      func(w *word, s left) (float64, error) { return interpolate(valuesOf(s.points), w.n), nil },
	"at": func(w *word, s left) (float64, error) {
		i, err := find(s.points, w.step)
		if err != nil {
			return 0, err
		}
		return s.points[i].Value, nil
	},
	"count": func(_ *word, s left) (float64, error) { return float64(len(s.points)), nil },
	"share": func(_ *word, s left) (float64, error) { return float64(len(s.points)) / float64(s.of), nil },
}

// stepWords are all words, for messages.
const stepWords = "skip, first, last, from, to, outliers, misses, and then mean, median, min, max, sum, p90, at, count or share"

// Tolerance reports whether two numbers are near enough.
type Tolerance interface{ Holds(got, want float64) bool }

// ParseSteps reads words such as "skip 3" and "median". The last one makes a number, and no other one does.
// tolerance reads how far a step may be from a recorded one.
func ParseSteps(texts []string, tolerance func(string) (Tolerance, error)) (*Reduction, error) {
	r := &Reduction{}
	chosen := false
	for i, text := range texts {
		w, err := parseWord(text, tolerance)
		if err != nil {
			return nil, err
		}
		if last := i == len(texts)-1; last != (reduce[w.name] != nil) {
			if last {
				return nil, fmt.Errorf("%q leaves steps, and a number is expected: add a word such as median or count after it", cut(text, maxName))
			}
			return nil, fmt.Errorf("%q yields a number, and %q follows: write it last", cut(text, maxName), cut(texts[i+1], maxName))
		}
		if w.name == "share" && !chosen {
			return nil, errors.New("share is of outliers or misses: write one of them before it")
		}
		chosen = chosen || w.name == "outliers" || w.name == "misses"
		r.words = append(r.words, w)
	}
	if len(r.words) == 0 {
		return nil, errors.New("is empty: write a word such as median, or remove it")
	}
	return r, nil
}

func parseWord(text string, tolerance func(string) (Tolerance, error)) (w word, err error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	if percent, ok := strings.CutPrefix(name, "p"); ok && rest == "" {
		if n, err := strconv.ParseFloat(percent, 64); err == nil && n >= 0 && n <= 100 {
			return word{name: "p", n: n}, nil
		}
	}
	w.name = name
	wrong := func(example string) error {
		return fmt.Errorf("%q is not understood: write for example %s", cut(text, maxName), example)
	}
	switch name {
	case "skip", "first", "last":
		n, err := strconv.Atoi(rest)
		if w.n = float64(n); err != nil || n < 1 || n > maxPoints {
			return w, wrong(name + " 3")
		}
	case "from", "to", "at":
		if w.step = rest; rest == "" {
			return w, wrong(name + " 20")
		}
	case "outliers":
		if w.n, err = strconv.ParseFloat(rest, 64); err != nil || !(w.n > 1 && w.n <= 1e9) {
			return w, wrong("outliers 5, for steps beyond 5 times the median")
		}
	case "misses":
		limit, file, _ := strings.Cut(rest, " ")
		if w.file = strings.TrimSpace(file); w.file == "" {
			return w, wrong("misses 1% golden.json")
		}
		w.limit, err = tolerance(limit)
	case "mean", "median", "min", "max", "sum", "count", "share":
		if rest != "" {
			return w, wrong(name)
		}
	default:
		return w, fmt.Errorf("unknown word %q: use %s", cut(text, maxName), stepWords)
	}
	return w, err
}

// Files are the recorded outputs that the words name.
func (r *Reduction) Files() (files []string) {
	for _, w := range r.words {
		if w.file != "" {
			files = append(files, w.file)
		}
	}
	return files
}

// record gives the words the steps of a recorded output.
func (r *Reduction) record(file string, points []Point) error {
	if len(points) == 0 {
		return errors.New("the recorded output has no such steps: record it again, or correct the path")
	}
	for i := range r.words {
		if r.words[i].file != file {
			continue
		}
		before, err := (&Reduction{words: r.words[:i]}).shorten(points)
		if err != nil {
			return err
		}
		r.words[i].recorded = before.points
	}
	return nil
}

// of is the number of steps, of which there is at least one.
func (r *Reduction) of(points []Point) (float64, error) {
	last := &r.words[len(r.words)-1]
	s, err := (&Reduction{words: r.words[:len(r.words)-1]}).shorten(points)
	if err != nil {
		return 0, err
	}
	if len(s.points) == 0 && last.name != "count" && last.name != "share" {
		return 0, fmt.Errorf("no step is left for %s: loosen the words before it", last.name)
	}
	v, err := reduce[last.name](last, s)
	if err == nil && (math.IsInf(v, 0) || math.IsNaN(v)) {
		err = fmt.Errorf("%s of the steps is too large for a number", last.name)
	}
	return v, err
}

func (r *Reduction) shorten(points []Point) (s left, err error) {
	s = left{points: points, of: -1}
	for i := range r.words {
		w := &r.words[i]
		if s.of < 0 && (w.name == "outliers" || w.name == "misses") {
			s.of = len(s.points)
		}
		if s.points, err = shorten[w.name](w, s.points); err != nil {
			return s, err
		}
	}
	return s, nil
}

// enough refuses to take more steps than there are, and to leave fewer than some.
func (w *word) enough(points []Point, left int) error {
	if len(points) < int(w.n)+left {
		return fmt.Errorf("%s %v of %s: let the program run longer, or correct the number", w.name, w.n, text.Plural(len(points), "step"))
	}
	return nil
}

// find is the index of a step.
func find(points []Point, step string) (int, error) {
	if i := slices.IndexFunc(points, func(p Point) bool { return sameStep(p.Step, step) }); i >= 0 {
		return i, nil
	}
	if len(points) == 0 {
		return 0, fmt.Errorf("there is no step %s, because no step is left", cut(step, maxName))
	}
	return 0, fmt.Errorf("there is no step %s, only %s from %s to %s: let the program run longer, or correct the step", cut(step, maxName),
		text.Plural(len(points), "step"), cut(points[0].Step, maxName), cut(points[len(points)-1].Step, maxName))
}

// sameStep reports whether two names are of one step: 5 is 5.0.
func sameStep(a, b string) bool {
	if a == b {
		return true
	}
	x, xErr := strconv.ParseFloat(a, 64)
	y, yErr := strconv.ParseFloat(b, 64)
	return xErr == nil && yErr == nil && x == y
}

// misses are the steps that are not near enough to the recorded ones. Both have the same steps.
func (w *word) misses(points []Point) (missed []Point, err error) {
	recorded := make(map[string]float64, len(w.recorded))
	for _, p := range w.recorded {
		recorded[stepKey(p.Step)] = p.Value
	}
	for _, p := range points {
		want, ok := recorded[stepKey(p.Step)]
		if !ok {
			return nil, fmt.Errorf("step %s is not in %s: record it, or leave it out by to", cut(p.Step, maxName), w.file)
		}
		delete(recorded, stepKey(p.Step))
		if !w.limit.Holds(p.Value, want) {
			missed = append(missed, p)
		}
	}
	for _, p := range w.recorded {
		if _, left := recorded[stepKey(p.Step)]; left {
			return nil, fmt.Errorf("step %s of %s is missing: see why the program ended before it", cut(p.Step, maxName), w.file)
		}
	}
	return missed, nil
}

func stepKey(step string) string {
	if n, err := strconv.ParseFloat(step, 64); err == nil {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	return step
}

func valuesOf(points []Point) []float64 {
	values := make([]float64, len(points))
	for i, p := range points {
		values[i] = p.Value
	}
	return values
}

func sum(points []Point) (total float64) {
	for _, p := range points {
		total += p.Value
	}
	return total
}

// interpolate is the percentile, linear between the two nearest values, as numpy's default is.
func interpolate(values []float64, percent float64) float64 {
	slices.Sort(values)
	at := percent / 100 * float64(len(values)-1)
	low := int(at)
	high := min(low+1, len(values)-1)
	return values[low] + (at-float64(low))*(values[high]-values[low])
}
