package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/text"
)

// columns are the names, in the first line of a table, of a request's time and
// lengths.
type columns struct {
	at, input, output string
	dates             bool // times are dates, else seconds
}

// The tables are those of github.com/Azure/AzurePublicDataset (2023 and 2024)
// and github.com/HPMLL/BurstGPT.
var tables = map[Format]columns{
	Azure:    {"TIMESTAMP", "ContextTokens", "GeneratedTokens", true},
	BurstGPT: {"Timestamp", "Request tokens", "Response tokens", false},
}

// table reads a trace that is a table with commas, whose values hold none.
type table struct {
	*collector
	columns
	header          []string
	epoch           time.Time
	time, in, outOf int // indexes of the columns
}

// line adds the request of a row. Rows without tokens, which are failed
// requests, are counted in Dataset.Skipped.
func (t *table) line(line []byte) error {
	if !utf8.Valid(line) {
		return errors.New("the text is not valid UTF-8: save the file as UTF-8")
	}
	row := strings.Split(strings.TrimSpace(string(line)), ",")
	if t.header == nil {
		return t.setHeader(row)
	}
	if len(row) != len(t.header) {
		return fmt.Errorf("the row has %d values and the header %d: correct the row", len(row), len(t.header))
	}
	input, err := t.tokens(t.input, row[t.in], MaxWords)
	if err != nil {
		return err
	}
	output, err := t.tokens(t.output, row[t.outOf], MaxOutput)
	if err != nil {
		return err
	}
	if input == 0 || output == 0 {
		t.d.Skipped++
		return nil
	}
	seconds, err := t.seconds(row[t.time])
	if err != nil {
		return err
	}
	at, err := t.since(seconds)
	if err != nil {
		return err
	}
	return t.add(item{at: at, length: input, output: output, parts: t.blockParts(nil, input)})
}

func (t *table) setHeader(row []string) error {
	for i := range row {
		row[i] = strings.TrimSpace(row[i])
	}
	for name, to := range map[string]*int{t.at: &t.time, t.input: &t.in, t.output: &t.outOf} {
		if *to = slices.Index(row, name); *to < 0 {
			return fmt.Errorf("the first line %s has no column %s: begin the file of format %s with %s,%s,%s, or correct format",
				text.Quote(strings.Join(row, ","), 80), name, t.spec.Format, t.at, t.input, t.output)
		}
	}
	t.header = row
	return nil
}

func (t *table) tokens(name, value string, maximum int) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil || n < 0 || n > maximum {
		return 0, fmt.Errorf("%s is %s: write a whole number from 0 to %d", name, text.Quote(value, 40), maximum)
	}
	return n, nil
}

// seconds reads a time: a number, or a date such as 2023-11-16 18:15:46.680590,
// with or without an offset, since the first one.
func (t *table) seconds(value string) (float64, error) {
	value = strings.TrimSpace(value)
	if !t.dates {
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || !(v >= 0 && v <= 1e15) {
			return 0, fmt.Errorf("%s is %s: write seconds from 0 to 1e15", t.at, text.Quote(value, 40))
		}
		return v, nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", time.RFC3339} { // fractions are read by each
		if at, err := time.Parse(layout, value); err == nil {
			if t.epoch.IsZero() {
				t.epoch = at
			}
			return at.Sub(t.epoch).Seconds(), nil
		}
	}
	return 0, fmt.Errorf("%s is %s: write a date such as 2023-11-16 18:15:46.680590", t.at, text.Quote(value, 40))
}
