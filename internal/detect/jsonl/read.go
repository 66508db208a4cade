package jsonl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Limits of the input: 500,000 cells of 40 values fit into a GiB.
const (
	MaxLine   = 16 << 20   // bytes
	maxLines  = 500_000    // of all files
	MaxValues = 100_000    // of one line
	maxKept   = 32_000_000 // values of all lines that are kept until the last one is read
	MaxName   = 1000       // bytes of an id or a group
)

// Error is a line that was refused.
type Error struct {
	File         string
	Line, Column int // from 1; bytes
	Message      string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Set holds the trials that were read. The zero value is empty, and useful with
// the default options. It is not for concurrent use.
type Set struct {
	Options Options

	lines  []line
	groups map[string][]int // lines by group, in order
	seen   map[[2]string]place
	kept   int
	parser parser
}

// line is a trial without what is not judged.
type line struct {
	id, group string
	sample
}

type place struct {
	file string
	line int
}

// Len is the number of trials.
func (s *Set) Len() int { return len(s.lines) }

// Read reads the trials of a file up to its end. name is the file's, for errors,
// which are of type [*Error] where a line was refused.
func (s *Set) Read(r io.Reader, name string) error {
	lines := bufio.NewReaderSize(r, 1<<16)
	var long []byte
	for at := 1; ; at++ {
		text, err := next(lines, &long)
		if err != nil && !errors.Is(err, io.EOF) {
			if errors.Is(err, errLong) {
				return &Error{
					name,
					at,
					1,
					fmt.Sprintf("the line has more than %d MiB: keep fewer values of each run, of its newest ones", MaxLine>>20),
				}
			}
			return fmt.Errorf("read %s, line %d: %w: write the file again", name, at, err)
		}
		if len(bytes.TrimSpace(text)) > 0 {
			if err := s.add(text, name, at); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

var errLong = errors.New("the line is too long")

// next returns the next line, in long where it does not fit into the buffer. It is
// valid until the next call.
func next(r *bufio.Reader, long *[]byte) ([]byte, error) {
	text, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return text, err
	}
	*long = (*long)[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(*long)+len(text) > MaxLine {
			return nil, errLong
		}
		*long = append(*long, text...)
		text, err = r.ReadSlice('\n')
	}
	if len(*long)+len(text) > MaxLine {
		return nil, errLong
	}
	*long = append(*long, text...)
	return *long, err
}

// add parses a line and keeps what is judged of it.
func (s *Set) add(text []byte, name string, at int) error {
	refuse := func(column int, format string, args ...any) error {
		return &Error{name, at, column, fmt.Sprintf(format, args...)}
	}
	if len(s.lines) >= maxLines {
		return refuse(1, "there are more than %d lines: judge them in parts, the lines of a group in one", maxLines)
	}
	t, err := s.parser.parse(text)
	if err != nil {
		var bad *Error
		if errors.As(err, &bad) {
			return refuse(bad.Column, "%s", bad.Message)
		}
		return err
	}
	if s.seen == nil {
		s.seen, s.groups = map[[2]string]place{}, map[string][]int{}
	}
	key := [2]string{t.Group, t.ID}
	if first, twice := s.seen[key]; twice {
		return refuse(1, "id %s occurs twice in its group, first at %s:%d: give each line of a group an id of its own", quote(t.ID),
			first.file, first.line)
	}
	l := line{t.ID, t.Group, t.reduce(s.Options)}
	if s.kept += len(l.cell.Base) + len(l.cell.Head); s.kept > maxKept {
		return refuse(1, "all lines together have more than %d values to judge: judge them in parts, the lines of a group in one", maxKept)
	}
	s.seen[key] = place{name, at}
	s.groups[t.Group] = append(s.groups[t.Group], len(s.lines))
	s.lines = append(s.lines, l)
	return nil
}
