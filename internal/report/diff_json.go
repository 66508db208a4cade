package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/gate/diff"
)

// diffSchema is the version of [DiffDocument] written by this build.
const diffSchema = 2

// DiffDocument is the JSON form of a [diff.Difference]. It leaves nothing out.
type DiffDocument struct {
	Schema        int                  `json:"schema"`
	BaselinePath  string               `json:"baseline_path"`
	CandidatePath string               `json:"candidate_path"`
	Tolerance     float64              `json:"tolerance"` // fraction
	Strict        bool                 `json:"strict"`
	Compat        string               `json:"compat,omitempty"` // whose rules judged, if not ours
	Failed        bool                 `json:"failed"`
	Refused       string               `json:"refused"` // why the two must not be compared; "" if they may
	Context       []diff.ContextMatch  `json:"context"`
	Counts        map[diff.Verdict]int `json:"counts"`  // of every verdict there is
	Metrics       []DiffRowDocument    `json:"metrics"` // sorted by cell, then metric
}

// DiffRowDocument is a row. JSON has no NaN and no infinity: a number that is
// one is written as null, and NotFinite is set.
type DiffRowDocument struct {
	diff.Row
	// Better reports whether the change is an improvement; nil where no change was judged.
	Better    *bool `json:"better"`
	NotFinite bool  `json:"not_finite,omitempty"`
}

// DiffJSON renders a [DiffDocument], one row a line. What is not printable in a
// name is written as \uXXXX.
func DiffJSON(w io.Writer, d diff.Difference, o DiffOptions) error {
	head, err := PrintableJSON(DiffDocument{Schema: diffSchema, BaselinePath: d.Baseline, CandidatePath: d.Candidate,
		Tolerance: finite(o.Tolerance), Strict: o.Strict, Compat: string(d.Compat), Failed: d.Failed, Refused: d.Refused,
		Context: append([]diff.ContextMatch{}, d.Context...), Counts: countVerdicts(d.Rows)}, unicode.IsPrint)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	b.Write(bytes.TrimSuffix(head, []byte("null}"))) // the rows, which come last
	b.WriteByte('[')
	for i := range d.Rows {
		row, err := PrintableJSON(finiteRow(d.Rows[i]), unicode.IsPrint)
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(row)
	}
	b.WriteString("\n]}\n")
	return b.Flush()
}

func finiteRow(r diff.Row) *DiffRowDocument {
	d := &DiffRowDocument{Row: r}
	if r.DeltaRel != nil && *r.DeltaRel != 0 && r.Better != "" {
		better := r.Better.Word(*r.DeltaRel) == "better"
		d.Better = &better
	}
	for _, x := range []**float64{&d.Baseline, &d.Candidate, &d.DeltaAbs, &d.DeltaRel} {
		if *x != nil && (math.IsNaN(**x) || math.IsInf(**x, 0)) {
			*x, d.NotFinite = nil, true
		}
	}
	return d
}

// PrintableJSON encodes v on one line in which each character is one of keep.
// "##[" would be a command to GitHub's runner wherever in a log it occurs. Both
// can only be inside a string, where every character has a number.
func PrintableJSON(v any, keep func(rune) bool) ([]byte, error) {
	var encoded bytes.Buffer
	e := json.NewEncoder(&encoded)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	text := bytes.ReplaceAll(bytes.TrimSuffix(encoded.Bytes(), []byte("\n")), []byte("##["), []byte(`##\u005b`))
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if keep(r) {
			out = append(out, text[:size]...)
		} else {
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		}
		text = text[size:]
	}
	return out, nil
}
