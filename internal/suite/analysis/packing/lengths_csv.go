package packing

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// readTable reads one column of a CSV file. All records have as many fields as
// the first, which is a header if the column has no number there.
func (l *list) readTable(text []byte, field string) error {
	r := csv.NewReader(bytes.NewReader(text))
	r.ReuseRecord = true
	column := -1
	for {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return l.csvError(err)
		}
		l.line, _ = r.FieldPos(0)
		if column < 0 {
			if column, err = columnOf(record, field); err != nil {
				return err
			}
			if isHeading(record[column]) {
				continue
			}
		}
		l.line, _ = r.FieldPos(column)
		if err := l.add(record[column]); err != nil {
			return err
		}
	}
	if len(l.lengths) == 0 {
		l.line++
		return errors.New("no lengths: write one in each record")
	}
	return nil
}

func (l *list) csvError(err error) error {
	var wrong *csv.ParseError
	if !errors.As(err, &wrong) {
		return err
	}
	l.line = wrong.Line
	return fmt.Errorf("%w: write records of equal length, with commas, and quotes doubled", wrong.Err)
}

// isHeading distinguishes the name of a column from a number, even a wrong one.
func isHeading(text string) bool {
	return text != "" && !strings.ContainsAny(text[:1], "0123456789+-. ")
}

// columnOf returns which column field names, given the first record.
func columnOf(first []string, field string) (int, error) {
	n, err := strconv.Atoi(field)
	if err == nil {
		if n < 1 || n > len(first) {
			return 0, fmt.Errorf("no column %d: give 1 to %d", n, len(first))
		}
		return n - 1, nil
	}
	names := candidates()
	if field != "" {
		names = []string{field}
	} else if len(first) == 1 {
		return 0, nil
	}
	column := -1
	for i, name := range first {
		if !slices.Contains(names, name) {
			continue
		}
		if column >= 0 {
			return 0, fmt.Errorf("both column %d and column %d may be meant: give the number of one", column+1, i+1)
		}
		column = i
	}
	if column < 0 {
		return 0, fmt.Errorf("no column %s in the header: give the name or number of one of the %d columns",
			text.Quote(strings.Join(names, ", "), 40), len(first))
	}
	return column, nil
}
