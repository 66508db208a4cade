package dataset

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// maxTrace bounds how long a trace may take.
const maxTrace = 366 * 24 * time.Hour

// trace adds the request of a line such as
//
//	{"timestamp": 1000, "input_length": 1200, "output_length": 52, "hash_ids": [46, 47, 48]}
//
// which are Mooncake's, whose timestamps are in ms; guidellm reads the same
// fields with timestamps in s. Each of hash_ids stands for a block of text:
// equal ids are equal blocks wherever they occur, so that requests share what
// they shared when they were recorded. Tokens without an id are the request's own.
func (c *collector) trace(o object) error {
	at, err := c.arrival(o)
	if err != nil {
		return err
	}
	it := item{at: at}
	if it.length, err = o.count("input_length", MaxWords); err != nil {
		return err
	}
	if it.output, err = o.count("output_length", MaxOutput); err != nil {
		return err
	}
	ids, err := blocks(o)
	if err != nil {
		return err
	}
	if maximum := (it.length + c.spec.Block - 1) / c.spec.Block; len(ids) > maximum {
		return fmt.Errorf("hash_ids has %d blocks and input_length fills only %d of %d tokens: set block to the trace's block size",
			len(ids), maximum, c.spec.Block)
	}
	it.parts = c.blockParts(ids, it.length)
	return c.add(it)
}

// traceLine returns what reads a line of the trace's format.
func (c *collector) traceLine() func([]byte) error {
	if columns, ok := tables[c.spec.Format]; ok {
		t := table{collector: c, columns: columns}
		return t.line
	}
	return objects(c.trace)
}

// arrival returns the time of a line since the first one.
func (c *collector) arrival(o object) (time.Duration, error) {
	v, err := o.number("timestamp")
	if err != nil {
		return 0, err
	}
	return c.since(v)
}

// since returns how long after the first line v is, in the trace's unit.
func (c *collector) since(v float64) (time.Duration, error) {
	if len(c.d.items) == 0 {
		c.start, c.last = v, v
	}
	if v < c.last {
		return 0, fmt.Errorf("timestamp %v is before %v of an earlier line: sort the file by timestamp", v, c.last)
	}
	c.last = v
	unit := time.Second
	if c.spec.TimeUnit == "ms" {
		unit = time.Millisecond
	}
	since := (v - c.start) * float64(unit)
	if since > float64(maxTrace) {
		return 0, fmt.Errorf("timestamp %v is more than a year after the first: correct it, or time_unit", v)
	}
	return time.Duration(math.Round(since)), nil
}

func blocks(o object) (ids []int64, err error) {
	if !o.has("hash_ids") {
		return nil, nil
	}
	if err := json.Unmarshal(o["hash_ids"], &ids); err != nil {
		return nil, fmt.Errorf("hash_ids is %s and not a list of whole numbers: write one for each block", excerpt(o["hash_ids"]))
	}
	return ids, nil
}

func (c *collector) blockParts(ids []int64, length int) (parts []part) {
	for _, id := range ids {
		n := min(c.spec.Block, length)
		parts = append(parts, part{topic: blockText, index: uint64(id), words: n})
		length -= n
	}
	if length > 0 {
		parts = append(parts, part{topic: ownText, index: uint64(len(c.d.items)), words: length})
	}
	return parts
}
