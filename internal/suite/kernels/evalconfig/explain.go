package evalconfig

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/accelgate/accelgate/internal/text"
)

// Explain writes a table of the settings of a definition, their sources,
// and what FlashInfer-Bench's documented and coded orders yield where that
// differs. The errors are those of [File.Resolve] and of w.
func (f *File) Explain(w io.Writer, definition, opType string, flags Overrides) error {
	r, err := f.Resolve(definition, opType, flags)
	if err != nil {
		return err
	}
	documented, coded := f.upstream(definition, opType, flags)
	var b bytes.Buffer
	fmt.Fprintf(&b, "definition %s of op type %s\n\n", show(definition), show(opType))
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "setting\tvalue\torigin\tupstream's documentation\tupstream's code")
	other, third := documented.texts(), coded.texts()
	for _, row := range r.rows() {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", show(row.key), show(row.text), show(row.origin), differing(other, row),
			differing(third, row))
	}
	tw.Flush() // to memory
	b.WriteString("\n" + orders)
	if f.doc != nil {
		fmt.Fprintf(&b, "%s is laid over the bundled values; upstream's --config replaces them.\n", show(f.name))
	}
	_, err = w.Write(trimLines(b.Bytes()))
	return err
}

// Setting is a row of [File.Explain].
type Setting struct {
	Key        string `json:"setting"`
	Value      string `json:"value"`
	Origin     string `json:"origin"`
	Documented string `json:"upstream_documentation"` // what upstream's documentation yields; "" if it agrees
	Coded      string `json:"upstream_code"`
}

// Settings are the rows of [File.Explain], for programs.
func (f *File) Settings(definition, opType string, flags Overrides) ([]Setting, error) {
	r, err := f.Resolve(definition, opType, flags)
	if err != nil {
		return nil, err
	}
	documented, coded := f.upstream(definition, opType, flags)
	other, third := documented.texts(), coded.texts()
	var list []Setting
	for _, row := range r.rows() {
		list = append(list, Setting{row.key, row.text, row.origin, differing(other, row), differing(third, row)})
	}
	return list, nil
}

const orders = `A column of upstream's is empty where it agrees; "none" is what upstream does not have.
accelgate:                 built-in < bundled < top level < op_type_config < definition_config < flags
upstream's documentation:  built-in < top level and flags < op_type_config < definition_config
upstream's code:           built-in < op_type_config < definition_config < top level and flags
`

// upstream returns what the two orders of FlashInfer-Bench yield. A file takes
// the place of the bundled one; keys of ours are ignored there.
func (f *File) upstream(definition, opType string, flags Overrides) (documented, coded Resolved) {
	from := f
	if f.doc == nil {
		from = bundled()
	}
	base, mode := builtin(), fib
	base.Mode = &mode
	top, sections := []layer{from.global(), flags.layer()}, from.sections(definition, opType)
	for _, list := range [][]layer{top, sections} {
		for i := range list {
			list[i].Mode, list[i].Outputs = nil, nil
		}
	}
	documented = stack(slices.Concat([]layer{base}, top, sections))
	coded = stack(slices.Concat([]layer{base}, sections, top))
	return documented, coded
}

func differing(upstream map[string]string, ours row) string {
	text, ok := upstream[ours.key]
	switch {
	case !ok:
		return "none"
	case text == ours.text:
		return ""
	}
	return show(text)
}

// trimLines drops the spaces that the table leaves at ends of lines.
func trimLines(text []byte) []byte {
	lines := bytes.Split(text, []byte("\n"))
	for i, line := range lines {
		lines[i] = bytes.TrimRight(line, " ")
	}
	return bytes.Join(lines, []byte("\n"))
}

// Digest returns the SHA-256, in hexadecimal, of all values without their
// origins. The contents of a program that is the evaluator are not in it.
func (r Resolved) Digest() string {
	h := sha256.New()
	for _, row := range r.rows() {
		fmt.Fprintf(h, "%q=%q\n", row.key, row.text)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// row is a value as text, exact and without bounds.
type row struct{ key, text, origin string }

func textRow[T any](key string, v Value[T]) row { return row{key, fmt.Sprint(v.V), v.Origin} }

// toleranceRow names the default where nothing is set.
func toleranceRow(key string, v Value[float64], unset string) row {
	if v.V == 0 {
		return row{key, unset, v.Origin}
	}
	return row{key, strconv.FormatFloat(v.V, 'g', -1, 64), v.Origin}
}

// rows lists everything in a fixed order.
func (r Resolved) rows() []row {
	rows := []row{
		textRow("use_isolated_runner", r.UseIsolatedRunner),
		textRow("timeout_seconds", r.TimeoutSeconds),
		textRow("profile_baseline", r.ProfileBaseline),
		textRow("mode", r.Mode),
		textRow("evaluator", r.Evaluator),
		textRow("warmup_runs", r.WarmupRuns),
		textRow("iterations", r.Iterations),
		textRow("num_trials", r.NumTrials),
		toleranceRow("rtol", r.Rtol, "by number format"),
		toleranceRow("atol", r.Atol, "by number format"),
		toleranceRow("required_matched_ratio", r.RequiredMatchedRatio, "by evaluator"),
	}
	for _, name := range slices.Sorted(maps.Keys(r.Outputs)) {
		at, o := element("outputs", name), r.Outputs[name]
		rows = append(rows, toleranceRow(at+".rtol", o.Rtol, ""), toleranceRow(at+".atol", o.Atol, ""),
			toleranceRow(at+".required_matched_ratio", o.RequiredMatchedRatio, ""))
	}
	for _, key := range slices.Sorted(maps.Keys(r.Extra)) {
		rows = append(rows, textRow(element("extra", key), r.Extra[key]))
	}
	return slices.DeleteFunc(rows, func(r row) bool { return r.text == "" && r.origin == "" })
}

func (r Resolved) texts() map[string]string {
	texts := map[string]string{}
	for _, row := range r.rows() {
		texts[row.key] = row.text
	}
	return texts
}

// maxShown bounds foreign text in a table or a message, in bytes.
const maxShown = 100

// show returns foreign text for a table or a message, cut if it is long.
func show(s string) string { return text.Plain(text.Clip(s, maxShown), maxShown) }
