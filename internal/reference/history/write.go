package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/accelgate/accelgate/internal/atomicfile"
)

// Save replaces the file at path, making its folder if it is missing.
func (f *File) Save(path string) error {
	if err := f.fit(MaxBytes); err != nil {
		return fmt.Errorf("save the history %s: %w", path, err)
	}
	return atomicfile.Elsewhere(atomicfile.WriteFrom(path, f.write), "--history")
}

// Marshal returns the file with its newest runs, as many as fit into so many
// bytes. One run at least must.
func (f *File) Marshal(limit int) ([]byte, error) {
	if err := f.fit(limit); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err := f.write(&b)
	return b.Bytes(), err
}

// fit drops the oldest runs until the rest is small enough.
func (f *File) fit(limit int) error {
	size, headers, values := 0, 0, 0
	for n, r := range slices.Backward(f.runs) {
		line, header, err := r.marshal(f.ids)
		if err != nil {
			return err
		}
		size, headers, values = size+len(line), headers+header, values+len(r.values)
		if size <= limit && headers <= maxHeaders && values <= maxAllValues {
			continue
		}
		if n == len(f.runs)-1 {
			return fmt.Errorf("the newest run takes %d bytes and holds %d values, more than %d or %d: keep the history of fewer cells",
				size, values, limit, maxAllValues)
		}
		f.keepNewest(len(f.runs) - 1 - n)
		return nil
	}
	return nil
}

func (f *File) write(w io.Writer) error {
	for i := range f.runs {
		line, _, err := f.runs[i].marshal(f.ids)
		if err != nil {
			return err
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	if f.failing == nil {
		return nil
	}
	line, err := json.Marshal(f.failing.header)
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	return err
}

// Members of a line that hold cells.
const healthyCells, unhealthyCells = "cells", "unhealthy"

// marshal writes a line, its cells in the order in which they were added, those of
// an unhealthy host last, and returns how long it is without them.
func (r *run) marshal(ids []string) (line []byte, header int, err error) {
	h := r.header
	h.took = r.inOrder(r.cells)
	if line, err = json.Marshal(h); err != nil {
		return nil, 0, fmt.Errorf("encode a run of the history: %w", err)
	}
	header = len(line)
	line, err = r.appendCells(line[:header-1], ids, false)
	if err == nil && slices.ContainsFunc(r.cells, func(c cell) bool { return c.unhealthy }) {
		line, err = r.appendCells(line, ids, true)
	}
	return append(line, "}\n"...), header, err
}

// appendCells writes the member of the cells of a healthy or of an unhealthy host.
func (r *run) appendCells(line []byte, ids []string, unhealthy bool) ([]byte, error) {
	name := healthyCells
	if unhealthy {
		name = unhealthyCells
	}
	line = append(append(append(line, `,"`...), name...), `":{`...)
	some := false
	for n, c := range r.cells {
		if c.unhealthy != unhealthy {
			continue
		}
		id, err := json.Marshal(ids[c.id])
		if err != nil {
			return nil, err
		}
		if some {
			line = append(line, ',')
		}
		some = true
		line = append(append(line, id...), ':', '[')
		first := true
		if c.conditions >= 0 {
			first = false
			line = strconv.AppendInt(line, int64(c.conditions), 10)
		}
		r.each(n, func(metric int32, values []float64) {
			if !first {
				line = append(line, ',')
			}
			first = false
			line = appendSpan(line, metric, values)
		})
		line = append(line, ']')
	}
	return append(line, '}'), nil
}

// digits are enough to tell changes of a thousandth of a percent apart.
const digits = 7

func appendSpan(line []byte, metric int32, values []float64) []byte {
	line = strconv.AppendInt(append(line, '['), int64(metric), 10)
	for _, v := range values {
		line = strconv.AppendFloat(append(line, ','), v, 'g', digits, 64)
	}
	return append(line, ']')
}
