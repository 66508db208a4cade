package waiver

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/accelgate/accelgate/internal/config"
)

// maxEntries bounds a file: a longer list cannot be reviewed.
const maxEntries = 500

// The bounds of texts, in bytes.
const (
	maxCell   = 4096
	maxMetric = 255
	maxHost   = 63
	maxReason = 500
	maxIssue  = 200
	maxBy     = 100
)

// written is an entry as the file has it.
type written struct {
	Cell    string  `yaml:"cell,required"`
	Metric  string  `yaml:"metric,required"`
	Host    string  `yaml:"host"`
	Ceiling percent `yaml:"ceiling,required"`
	Expires Date    `yaml:"expires,required"`
	Reason  string  `yaml:"reason,required"`
	Issue   string  `yaml:"issue"`
	By      string  `yaml:"by"`
}

// Read reads the text of a file of waivers: a YAML list, or nothing but
// comments. The name stands in positions. Every error is of type
// [config.Errors] and lists everything that is wrong; a waiver that has expired
// is not wrong.
func Read(name string, data []byte, today Date) ([]Entry, error) {
	return readList(name, data, "waivers", "this cell, metric and host have a waiver", (*written).entry,
		func(e *Entry) (key, []complaint) { return e.key(), e.complaints(today) })
}

// readList reads the entries W of a file as E: a YAML list, or nothing but comments. Many and twice are for complaints.
func readList[W, E any](
	name string,
	data []byte,
	many, twice string,
	entry func(w *W, source string) E,
	check func(*E) (key, []complaint),
) ([]E, error) {
	if blank(data) {
		return nil, nil
	}
	file, err := config.Body(name, data)
	if err != nil {
		return nil, err
	}
	var list []W
	if err := file.Decode(&list); err != nil {
		return nil, err
	}
	if len(list) > maxEntries {
		return nil, config.Errors{file.Errorf("", "%d %s are more than %d; remove those that have expired", len(list), many, maxEntries)}
	}
	var wrong config.Errors
	entries := make([]E, len(list))
	lines := map[key]int{}
	for i := range list {
		at := func(field string) string { return strings.TrimSuffix(fmt.Sprintf("[%d].%s", i, field), ".") }
		line := file.Position(at("")).Line
		entries[i] = entry(&list[i], fmt.Sprintf("%s:%d", filepath.Base(name), line))
		of, complaints := check(&entries[i])
		for _, c := range complaints {
			wrong = append(wrong, file.Errorf(at(c.field), "%s", c.text))
		}
		if first, is := lines[of]; is {
			wrong = append(wrong, file.Errorf(at(""), "%s at line %d; keep one of the two", twice, first))
			continue
		}
		lines[of] = line
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return entries, nil
}

// Load reads the file at path. A file that does not exist is an error that
// wraps [fs.ErrNotExist].
func Load(path string, today Date) ([]Entry, error) {
	data, err := load(path)
	if err != nil {
		return nil, fmt.Errorf("open waivers: %w; correct policy.waivers in the configuration", err)
	}
	return Read(path, data, today)
}

// load reads no more than Read takes.
func load(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const maximum = 1<<20 + 1 // more than config takes
	return io.ReadAll(io.LimitReader(f, maximum))
}

// blank reports a file without any value: one whose last waiver was removed.
func blank(data []byte) bool {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for line := range bytes.Lines(data) {
		if line = bytes.Trim(line, " \r\n"); len(line) > 0 && line[0] != '#' && string(line) != "---" {
			return false
		}
	}
	return len(data) < 1<<20
}

func (w *written) entry(source string) Entry {
	return Entry{
		Cell:    w.Cell,
		Metric:  w.Metric,
		Host:    w.Host,
		Ceiling: float64(w.Ceiling),
		Expires: w.Expires,
		Reason:  w.Reason,
		Issue:   w.Issue,
		By:      w.By,
		Source:  source,
	}
}

// complaint is what is wrong with a field, and the next step.
type complaint struct{ field, text string }

// complaints checks what the types cannot.
func (e *Entry) complaints(today Date) []complaint {
	list := complaintsOf([]field{{"cell", e.Cell, maxCell, true}, {"metric", e.Metric, maxMetric, true}, {"host", e.Host, maxHost, false},
		{"reason", e.Reason, maxReason, true}, {"issue", e.Issue, maxIssue, false}, {"by", e.By, maxBy, false}})
	if !(e.Ceiling > 0 && e.Ceiling <= MaxCeiling) {
		list = append(list,
			complaint{"ceiling", fmt.Sprintf("is %v %%; write a percentage above 0%% and up to %v%%", e.Ceiling, MaxCeiling)})
	}
	return append(list, tooFar(e.Expires, today)...)
}

// field is a text of an entry with its bound in bytes.
type field struct {
	name, text string
	maximum    int
	required   bool
}

func complaintsOf(fields []field) (list []complaint) {
	for _, t := range fields {
		switch {
		case len(t.text) > t.maximum:
			list = append(list, complaint{t.name, fmt.Sprintf("has %d bytes, more than %d; shorten it", len(t.text), t.maximum)})
		case strings.ContainsFunc(t.text, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.TrimSpace(t.text) != t.text:
			list = append(list, complaint{t.name, "holds control or invisible characters, or space around it; write it on one line"})
		case t.text == "" && t.required:
			list = append(list, complaint{t.name, "is empty; write a value"})
		}
	}
	return list
}

// tooFar complains about a day beyond [MaxDays].
func tooFar(expires, today Date) []complaint {
	if days := int(expires - today); days > MaxDays {
		return []complaint{{"expires", fmt.Sprintf("%s is %d days ahead; write a day until %s", expires, days, today+MaxDays)}}
	}
	return nil
}

// percent is a ceiling: "15%" or "15". A plain number below 10 needs its sign, because
// 0.1 may be meant as a share, and 1.4 as a factor.
type percent float64

// UnmarshalText reads the number; its range is checked with the others.
func (p *percent) UnmarshalText(text []byte) error {
	v, err := ParseCeiling(string(text))
	*p = percent(v)
	return err
}

// factors bounds the numbers that people write as a factor: 1.4 for 40 % slower.
const factors = 10

// ParseCeiling reads a ceiling in percent, as waivers write it.
func ParseCeiling(text string) (float64, error) {
	s, sign := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || strings.Trim(s, "0123456789.") != "" || !(v > 0 && v <= MaxCeiling) {
		return 0, fmt.Errorf("want a percentage above 0%% and up to %v%%, got %.60q; write for example 15%%", MaxCeiling, text)
	}
	if v < factors && !sign {
		meant := v * 100
		if v > 1 {
			meant -= 100
		}
		return 0, fmt.Errorf("%s can be read in two ways; write %s%% or %s%%", s, strconv.FormatFloat(meant, 'g', 6, 64), s)
	}
	return v, nil
}

// positions are the lines, from 0, in which the n entries of a valid file
// begin.
func positions(name string, data []byte, n int) ([]int, error) {
	file, err := config.Body(name, data)
	if err != nil {
		return nil, err
	}
	lines := make([]int, n)
	for i := range lines {
		lines[i] = file.Position(fmt.Sprintf("[%d]", i)).Line - 1
	}
	return lines, nil
}
