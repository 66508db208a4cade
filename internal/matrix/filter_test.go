package matrix_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/matrix"
)

// tagged has a tag on a model, on a backend and on a sweep.
func tagged() matrix.Spec {
	s := models()
	s.Axes[0].Values[0].Tags = []string{"smoke"}
	s.Axes[1].Values[1].Tags = []string{"gpu"}
	s.Sweeps[0].Tags = []string{"slow"}
	return s
}

func cells(points []matrix.Point) (cells []bench.Cell) {
	for _, p := range points {
		cells = append(cells, p.Cell)
	}
	return cells
}

func TestFilter(t *testing.T) {
	points := expand(t, tagged())
	check := func(f matrix.Filter, want ...string) {
		t.Helper()
		selected, others, err := f.Select(points)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range selected {
			got = append(got, p.Cell.ID())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", f, diff)
		}
		if len(selected)+len(others) != len(points) {
			t.Errorf("%d selected and %d others of %d cells", len(selected), len(others), len(points))
		}
	}
	check(matrix.Filter{Only: []string{"m1__*", "m2__cpu__pp512__baseline"}, Skip: []string{"*=*"}},
		"m1__cpu__pp512__baseline", "m1__cuda__pp512__baseline", "m2__cpu__pp512__baseline")
	check(matrix.Filter{Tags: []string{"smoke", "gpu"}, SkipTags: []string{"slow"}, Skip: []string{"*FUSED*"}},
		"m1__cpu__pp512__baseline", "m1__cuda__pp512__baseline", "m2__cuda__pp512__baseline")
}

func TestFilterErrors(t *testing.T) {
	points := expand(t, tagged())
	check := func(f matrix.Filter, want string) {
		t.Helper()
		if _, _, err := f.Select(points); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Select() error = %v, want one with %q", err, want)
		}
	}
	check(matrix.Filter{Only: []string{"m9__*"}}, `pattern "m9__*" matches no cell`)
	check(matrix.Filter{Tags: []string{"smok"}}, "did you mean smoke?")
	check(matrix.Filter{SkipTags: []string{"nightly"}}, "use one of gpu, slow, smoke")
	if _, _, err := (matrix.Filter{Tags: []string{"smoke"}}).Split(cells(points)); err == nil {
		t.Error("Split ignores tags, which cells do not have")
	}
}

// TestFilterPartitions checks that Select and Split part the cells in the same
// way, in order and without loss.
func TestFilterPartitions(t *testing.T) {
	randomly(t, func(t *testing.T, r *rand.Rand, s matrix.Spec) {
		points := expand(t, s)
		pick := func() string { return points[r.IntN(len(points))].Cell.ID() }
		f := matrix.Filter{Only: []string{pick(), pick()[:1] + "*"}, Skip: []string{pick()}}
		selected, others, err := f.Select(points)
		split, left, splitErr := f.Split(cells(points))
		if err != nil || splitErr != nil {
			t.Fatal(err, splitErr)
		}
		if diff := cmp.Diff(cells(selected), split) + cmp.Diff(others, left); diff != "" {
			t.Errorf("Select and Split differ:\n%s", diff)
		}
		for _, p := range points {
			id := p.Cell.ID()
			in := len(selected) > 0 && selected[0].Cell.ID() == id
			out := len(others) > 0 && others[0] == id
			wanted := !matrix.Glob(f.Skip[0], id) && slices.ContainsFunc(f.Only, func(g string) bool { return matrix.Glob(g, id) })
			switch {
			case in == out || in != wanted:
				t.Fatalf("%s: selected %v, left out %v, wanted %v", id, in, out, wanted)
			case in:
				selected = selected[1:]
			default:
				others = others[1:]
			}
		}
		if n := len(selected) + len(others); n != 0 {
			t.Error(fmt.Sprint(n), "cells too many")
		}
	})
}
