package packing

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// Format is how a file holds lengths.
type Format string

// The formats.
const (
	JSON  Format = "json"  // an array of integers
	JSONL Format = "jsonl" // on each line an integer, or an object with a field that is one
	CSV   Format = "csv"   // RFC 4180, with or without a header
)

// maxFile is the largest file that is read, in bytes: about 16 for each of the
// lengths that are packed. A data set with its texts is larger; its lengths are not.
const maxFile = 128 << 20

// FormatOf returns the format that the ending of a file's name stands for.
func FormatOf(name string) (Format, error) {
	lower := strings.ToLower(name)
	for _, f := range []Format{JSON, JSONL, CSV} {
		if strings.HasSuffix(lower, "."+string(f)) {
			return f, nil
		}
	}
	return "", fmt.Errorf("lengths are not read from %.80q: name a file that ends in .json, .jsonl or .csv", name)
}

// ReadLengths reads the lengths of sequences, in tokens, from a file that anyone
// may have written. It is strict: a length is an integer from 0 on, without sign,
// fraction or exponent, and whatever else stands there is an error that names
// its line. Lengths and their number are limited as in [Problem].
//
// field is the field of an object, or the column of a CSV file by its name in the
// header or by its number from 1 on. If it is empty, the one of length, len and
// num_tokens that is there is taken, or the only column. JSON has no fields.
//
// An empty array is an empty list; the other formats must have a length.
func ReadLengths(r io.Reader, format Format, field string) ([]int64, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read lengths: %w", err)
	case len(text) > maxFile:
		return nil, fmt.Errorf("the lengths take more than %d bytes: write them alone, without the texts, or split the file", maxFile)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // what some editors begin UTF-8 with
	var l list
	switch format {
	case JSON:
		if field != "" {
			return nil, fmt.Errorf("field %.40q of a JSON array of integers: leave the field out, or write JSON lines", field)
		}
		err = l.readArray(text)
	case JSONL:
		err = l.readLines(text, field)
	case CSV:
		err = l.readTable(text, field)
	default:
		return nil, fmt.Errorf("unknown format %.40q: use %s, %s or %s", format, JSON, JSONL, CSV)
	}
	if err != nil {
		return nil, fmt.Errorf("lengths, line %d: %w", l.line, err)
	}
	return l.lengths, nil
}

// list is what has been read, and the line that is being read, from 1 on.
type list struct {
	lengths []int64
	line    int
}

// add appends the length that digits spell.
func (l *list) add(digits string) error {
	n, err := parseLength(digits)
	if err != nil {
		return err
	}
	if len(l.lengths) == MaxLengths {
		return fmt.Errorf("more than %d lengths: split the file", MaxLengths)
	}
	l.lengths = append(l.lengths, n)
	return nil
}

func parseLength(digits string) (int64, error) {
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || len(digits) > 1 && digits[0] == '0' {
		return 0, fmt.Errorf("%s is not a length: write an integer from 0 on that fits into 63 bits", text.Quote(digits, 40))
	}
	return int64(n), nil
}

// candidates are the fields that a length is looked for in.
func candidates() []string { return []string{"length", "len", "num_tokens"} }
