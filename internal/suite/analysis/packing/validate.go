package packing

import (
	"errors"
	"fmt"
)

// Validate returns an error unless k is a packing of p: each index is in one
// cell or left out, only what the policy says is left out, no cell holds more
// tokens than it may, and every row has one cell per rank.
func Validate(p Problem, k Packing) error {
	seen := make([]bool, len(p.Lengths))
	for i, row := range k.Rows {
		if len(row) != p.Ranks {
			return fmt.Errorf("row %d has %d cells for %d ranks: report this packer as broken", i, len(row), p.Ranks)
		}
		if err := p.validateRow(row, seen); err != nil {
			return fmt.Errorf("row %d: %w: report this packer as broken", i, err)
		}
	}
	for _, index := range k.LeftOut {
		if err := p.see(index, seen); err != nil {
			return fmt.Errorf("left out: %w: report this packer as broken", err)
		}
		if length := p.Lengths[index]; !p.rejects(length) && (p.Policy != Legacy || length > 0) {
			return fmt.Errorf("index %d of length %d is left out: report this packer as broken", index, length)
		}
	}
	for index, ok := range seen {
		if !ok {
			return fmt.Errorf("index %d is nowhere: report this packer as broken", index)
		}
	}
	return nil
}

func (p Problem) validateRow(row [][]int, seen []bool) error {
	items, over := 0, false // items with tokens in the row; whether one is too long
	for rank, cell := range row {
		var load int64
		for _, index := range cell {
			if err := p.see(index, seen); err != nil {
				return fmt.Errorf("rank %d: %w", rank, err)
			}
			length := p.Lengths[index]
			switch {
			case p.rejects(length):
				return fmt.Errorf("rank %d: index %d should be left out", rank, index)
			case length == 0:
				continue
			case length > p.Max && load == 0:
				load, over = p.Max, true // full: nothing else has room
			case length > p.Max-load:
				return fmt.Errorf("rank %d holds more than %d tokens", rank, p.Max)
			default:
				load += length
			}
			items++
		}
	}
	if over && items > 1 && p.Policy != Legacy {
		return errors.New("a sequence that is too long shares its row")
	}
	return nil
}

// see marks an index.
func (p Problem) see(index int, seen []bool) error {
	if index < 0 || index >= len(seen) {
		return fmt.Errorf("index %d of %d lengths", index, len(seen))
	}
	if seen[index] {
		return fmt.Errorf("index %d occurs twice", index)
	}
	seen[index] = true
	return nil
}
