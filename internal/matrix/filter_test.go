package matrix_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/matrix"
)

func ids(cells []bench.Cell) (ids []string) {
	for _, c := range cells {
		ids = append(ids, c.ID())
	}
	return ids
}

func cells(points []matrix.Point) (cells []bench.Cell) {
	for _, p := range points {
		cells = append(cells, p.Cell)
	}
	return cells
}

func TestFilter(t *testing.T) {
	all := cells(expand(t, models()))
	selected, others, err := matrix.Filter{Only: []string{"m1__*", "m2__cpu__pp512__baseline"}, Skip: []string{"*=*"}}.Split(all)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"m1__cpu__pp512__baseline", "m1__cuda__pp512__baseline", "m2__cpu__pp512__baseline"}
	if diff := cmp.Diff(want, ids(selected)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(selected)+len(others) != len(all) {
		t.Errorf("%d selected and %d others of %d cells", len(selected), len(others), len(all))
	}
	if _, _, err := (matrix.Filter{Only: []string{"m9__*"}}).Split(all); err == nil || !strings.Contains(err.Error(), `pattern "m9__*" matches no cell`) {
		t.Errorf("Split() = %v, want an error", err)
	}
}

// TestFilterPartitions checks that Split parts the cells in order and without
// loss.
func TestFilterPartitions(t *testing.T) {
	randomly(t, func(t *testing.T, r *rand.Rand, s matrix.Spec) {
		all := cells(expand(t, s))
		pick := func() string { return all[r.IntN(len(all))].ID() }
		f := matrix.Filter{Only: []string{pick(), pick()[:1] + "*"}, Skip: []string{pick()}}
		selected, others, err := f.Split(all)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			id := c.ID()
			in := len(selected) > 0 && selected[0].ID() == id
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
			t.Error(n, "cells too many")
		}
	})
}
