package formats

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/stats"
)

// Point is the number of one step, with the name of the step.
type Point struct {
	Step  string
	Value float64
}

// maxPoints bounds the steps.
const maxPoints = maxNodes

// steps returns the numbers that a path names, or the elements or members of the value that it leads to. It
// returns none where the path leads nowhere; a step without a number is an error that names it.
func (d *Document) steps(p Path) ([]Point, error) {
	if !p.Several() {
		each := p
		each.steps = append(slices.Clip(p.steps), step{each: &selector{}})
		return d.steps(each)
	}
	nodes, err := d.Nodes(p)
	if err != nil {
		return nil, err
	}
	nodes = slices.DeleteFunc(nodes, func(n Node) bool { return n.Lacks != "" }) // records of another sort
	points := make([]Point, 0, len(nodes))
	seen := make(map[string]bool, len(nodes))
	for i := range nodes {
		name := nodes[i].Name()
		v, ok, err := nodes[i].Number(p)
		switch {
		case err != nil:
			return nil, fmt.Errorf("step %w", err)
		case !ok:
			return nil, fmt.Errorf("step %s has no number at %s: print it in each step, or choose the steps that have it, as in [event=train, step]",
				cut(name, maxName), p)
		case seen[name]:
			return nil, fmt.Errorf("step %s occurs twice: choose one of the two sorts of records, as in [event=train, step]",
				cut(name, maxName))
		}
		seen[name] = true
		points = append(points, Point{name, v})
	}
	return points, missingSteps(points)
}

// steps returns all that the expression finds. A group named step names each.
func (p Pattern) steps(text []byte) ([]Point, error) {
	if p.re == nil {
		return nil, nil
	}
	var points []Point
	seen := map[string]bool{}
	name := p.re.SubexpIndex("step")
	for i, m := range p.re.FindAllSubmatchIndex(text, maxPoints) {
		point := Point{Step: strconv.Itoa(i)}
		if name > 0 && m[2*name] >= 0 {
			point.Step = string(text[m[2*name]:m[2*name+1]])
		}
		if m[2*p.group] < 0 {
			continue
		}
		v, err := finite(strings.TrimSpace(string(text[m[2*p.group]:m[2*p.group+1]])))
		if err == nil && seen[point.Step] {
			err = errors.New("it occurs twice: make the expression match one line for each step")
		}
		if err != nil {
			return nil, fmt.Errorf("step %s: %w", cut(point.Step, maxName), err)
		}
		seen[point.Step] = true
		point.Value = v
		points = append(points, point)
	}
	return points, missingSteps(points)
}

// missingSteps names the steps that lack between steps of equal distance: a gap of several such
// distances that has steps of this distance before and after it.
func missingSteps(points []Point) error {
	numbers := make([]float64, len(points))
	for i, p := range points {
		n, err := strconv.ParseFloat(p.Step, 64)
		if err != nil {
			return nil
		}
		numbers[i] = n
	}
	slices.Sort(numbers)
	usual := commonDistance(numbers)
	if usual <= 0 {
		return nil
	}
	first, last := -1, -1 // steps after which the distance is the usual one
	for i := 1; i < len(numbers); i++ {
		if numbers[i]-numbers[i-1] == usual {
			if last = i; first < 0 {
				first = i
			}
		}
	}
	for i := first + 1; i < last; i++ {
		gap := numbers[i] - numbers[i-1]
		if gap > usual && math.Mod(gap, usual) == 0 {
			return fmt.Errorf("step %v is missing between %v and %v: see why the program left it out",
				numbers[i-1]+usual, numbers[i-1], numbers[i])
		}
	}
	return nil
}

// commonDistance is that of more than half of sorted numbers from the one before; 0 where none is.
func commonDistance(sorted []float64) float64 {
	if len(sorted) < 2 {
		return 0
	}
	distances := make([]float64, 0, len(sorted))
	for i := 1; i < len(sorted); i++ {
		distances = append(distances, sorted[i]-sorted[i-1])
	}
	slices.Sort(distances)
	usual, n := distances[len(distances)/2], 0
	for _, d := range distances {
		n += stats.Indicator(d == usual)
	}
	if 2*n <= len(distances) {
		return 0
	}
	return usual
}
