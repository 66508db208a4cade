package optrace

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/accelgate/accelgate/internal/bench"
)

// The limits of a trace bound the memory that reading takes to some 100 bytes
// an event beside the trace itself.
const (
	maxTrace     = 256 << 20 // bytes, unpacked
	maxEvents    = 2_000_000
	maxProcesses = 1 << 16
	maxWords     = 1 << 18

	nanosecond  = 1
	microsecond = 1000 * nanosecond
	second      = 1_000_000 * microsecond
)

// trace is a file of Chrome's trace event format: an object with traceEvents, or
// only the array. Strings are kept once, as they are written in the JSON.
type trace struct {
	words     []string
	index     map[string]int32
	events    []event
	processes map[int32]string // process_name by process
}

// event is a complete event (ph "X").
type event struct {
	name, category int32 // of words, -1 where missing
	process, lane  int32 // pid, and pid with tid: what happens in one lane is nested and does not overlap otherwise
	start, length  int64 // in nanoseconds; length is -1 where one of both is no time
}

func (e event) end() int64 { return e.start + e.length }

// readTrace reads a trace, which may be packed with gzip.
func readTrace(data []byte) (*trace, error) {
	data, err := unpack(data)
	if err != nil {
		return nil, err
	}
	c := cursor{data: bytes.TrimPrefix(data, []byte("\ufeff"))}
	t := &trace{index: map[string]int32{}, processes: map[int32]string{}}
	found := false
	switch c.peek() {
	case '[':
		found, err = true, t.list(&c)
	case '{':
		err = c.object(func(key []byte) error {
			if string(key) == "traceEvents" {
				if found {
					return fmt.Errorf("%w: the key %q occurs twice in the trace; export it again", bench.ErrContradiction, key)
				}
				found = true
				return t.list(&c)
			}
			_, err := c.value()
			return err
		})
	}
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, fmt.Errorf("the output %w: it is not a Chrome trace; pass the file that the profiler exported", ErrNone)
	}
	if err := c.end(); err != nil {
		return nil, err
	}
	return t, nil
}

func unpack(data []byte) ([]byte, error) {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err == nil {
			data, err = io.ReadAll(io.LimitReader(r, maxTrace+1))
		}
		if err != nil {
			return nil, fmt.Errorf("unpack the trace: %w: see in the program's log why it ended early", err)
		}
	}
	if len(data) > maxTrace {
		return nil, fmt.Errorf("the trace has more than %d MiB: profile fewer steps, without stacks and shapes", maxTrace>>20)
	}
	return data, nil
}

func (t *trace) list(c *cursor) error {
	var lane []byte // one for all events
	return c.list('[', ']', func() (err error) {
		if c.peek() != '{' {
			_, err = c.value()
			return err
		}
		lane, err = t.element(c, lane[:0])
		return err
	})
}

// element reads one element of traceEvents, with room for the name of a lane.
func (t *trace) element(c *cursor, lane []byte) ([]byte, error) {
	var phase, name, category, process, thread, start, length, args []byte
	err := c.object(func(key []byte) error {
		raw, err := c.value()
		var member *[]byte
		switch string(key) {
		case "ph":
			member = &phase
		case "name":
			member = &name
		case "cat":
			member = &category
		case "pid":
			member = &process
		case "tid":
			member = &thread
		case "ts":
			member = &start
		case "dur":
			member = &length
		case "args":
			member = &args
		default:
			return err
		}
		if *member != nil {
			return fmt.Errorf("%w: the key %q occurs twice in an event; export the trace again", bench.ErrContradiction, key)
		}
		*member = raw
		return err
	})
	switch {
	case err != nil:
		return lane, err
	case string(phase) == `"M"` && string(name) == `"process_name"`:
		return lane, t.process(process, args)
	case string(phase) != `"X"`:
		return lane, nil
	case len(t.events) == maxEvents:
		return lane, fmt.Errorf("the trace has more than %d events: profile fewer steps", maxEvents)
	case len(t.words) > maxWords:
		return lane, fmt.Errorf("the trace has more than %d names and threads: profile fewer steps, without stacks", maxWords)
	}
	e := event{name: t.word(name), category: t.word(category), process: t.word(process)}
	lane = append(binary.LittleEndian.AppendUint32(lane, uint32(e.process)), thread...)
	e.lane = t.word(lane)
	from, ok1 := nanoseconds(start)
	size, ok2 := nanoseconds(length)
	if e.start, e.length = from, size; !ok1 || !ok2 || size < 0 || size > maxSeconds*second {
		e.length = -1
	}
	t.events = append(t.events, e)
	return lane, nil
}

// process takes the name of a process. No real trace has so many.
func (t *trace) process(pid, args []byte) error {
	if len(args) == 0 || args[0] != '{' || len(t.processes) == maxProcesses {
		return nil
	}
	id := t.word(pid)
	c := cursor{data: args}
	return c.object(func(key []byte) error {
		raw, err := c.value()
		if string(key) == "name" && err == nil {
			name, _ := decode(raw)
			t.processes[id] = string(name)
		}
		return err
	})
}

// word returns the number of a JSON text, or -1 for none.
func (t *trace) word(raw []byte) int32 {
	if raw == nil {
		return -1
	}
	id, ok := t.index[string(raw)]
	if !ok {
		id = int32(len(t.words))
		word := string(raw)
		t.words, t.index[word] = append(t.words, word), id
	}
	return id
}

// text returns the string of a word, or "".
func (t *trace) text(word int32) string {
	if word < 0 {
		return ""
	}
	s, _ := decode([]byte(t.words[word]))
	return string(s)
}

// nanoseconds reads a time in microseconds, which torch_npu writes as a string.
// It reads digits itself: since 1970, 1.7e15 µs have passed, and a float64 of
// that size has no thousandths.
func nanoseconds(raw []byte) (ns int64, ok bool) {
	text := bytes.Trim(raw, `"`)
	if len(text) == 0 {
		return 0, false
	}
	digits, negative := bytes.CutPrefix(text, []byte("-"))
	whole, fraction, _ := bytes.Cut(digits, []byte("."))
	if len(whole) == 0 || len(whole) > 16 || len(whole) == 16 && whole[0] > '3' || len(fraction) > 3 {
		return roundedNanoseconds(text)
	}
	for i := range len(whole) + 3 {
		digit := byte('0')
		if i < len(whole) {
			digit = whole[i]
		} else if i -= len(whole); i < len(fraction) {
			digit = fraction[i]
		}
		if digit < '0' || digit > '9' {
			return roundedNanoseconds(text)
		}
		ns = ns*10 + int64(digit-'0')
	}
	if negative {
		ns = -ns
	}
	return ns, true
}

// roundedNanoseconds is for numbers with an exponent, many digits or none.
func roundedNanoseconds(text []byte) (int64, bool) {
	v, err := decimal(text)
	if v *= microsecond; err != nil || math.Abs(v) > 4e18 {
		return 0, false
	}
	return int64(math.Round(v)), true
}

// where returns the events that hold, in the order of the trace.
func (t *trace) where(holds func(event) bool) (events []event) {
	for _, e := range t.events {
		if holds(e) {
			events = append(events, e)
		}
	}
	return events
}
