package chart

import (
	"fmt"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/text"
)

// Step is one part of a change of a sum.
type Step struct {
	Name  string
	Delta float64 // positive is an increase
}

// Waterfall draws from the old to the new sum by the most largest steps, each where the one
// before it ended, and the rest in one step. It is "" if nothing changed.
func Waterfall(old float64, steps []Step, maximum int, unit string) string {
	steps = largest(steps, maximum)
	levels := []float64{old}
	for _, s := range steps {
		levels = append(levels, levels[len(levels)-1]+s.Delta)
	}
	if len(steps) == 0 || slices.ContainsFunc(levels, func(v float64) bool { return !finite(v) }) {
		return ""
	}
	s, _ := scaleOf(left, width-right, levels)
	var c canvas
	for i, step := range steps {
		y := row*float64(i) + row/2
		class := "step more"
		if step.Delta < 0 {
			class = "step less"
		}
		c.text(left-8, y+4, "name", "end", cut(step.Name))
		c.path(class, line(s.at(levels[i]), y, s.at(levels[i+1]), y))
		c.text(max(s.at(levels[i]), s.at(levels[i+1]))+6, y+4, "note", "start", fmt.Sprintf("%+.3g", step.Delta))
	}
	height := row * float64(len(steps))
	c.path("axis", line(left, height, width-right, height))
	c.text(left, height+bottom-4, "scale", "start", value(s.lo))
	c.text(width-right, height+bottom-4, "scale", "end", value(s.hi)+" "+unit)
	return c.finish(height+bottom, fmt.Sprintf("from %s to %s %s in %s, the largest %s",
		value(old), value(levels[len(steps)]), unit, text.Plural(len(steps), "step"), steps[0].Name))
}

// largest keeps the steps that moved most, the largest first, and adds up the others.
func largest(steps []Step, maximum int) []Step {
	kept := slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return s.Delta == 0 || !finite(s.Delta) })
	slices.SortStableFunc(kept, func(a, b Step) int {
		switch x, y := math.Abs(a.Delta), math.Abs(b.Delta); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	if len(kept) <= maximum {
		return kept
	}
	rest := 0.0
	for _, s := range kept[maximum:] {
		rest += s.Delta
	}
	return append(kept[:maximum:maximum], Step{text.Plural(len(kept)-maximum, "other"), rest})
}
