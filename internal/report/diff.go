package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/diff"
	"github.com/accelgate/accelgate/internal/text"
)

// DiffOptions hold the rules by which a [diff.Difference] was found, and how to show it.
type DiffOptions struct {
	Tolerance float64 // fraction
	Strict    bool
	Terminal  TerminalOptions // of DiffTerminal
	Limit     int             // bytes of DiffMarkdown; 0 means MarkdownBytes, less than 1000 means 1000
}

// DiffTerminal renders plain text, like [TerminalWith]. The first line is the
// verdict; at most 100 numbers follow, what matters most first.
func DiffTerminal(w io.Writer, d diff.Difference, o DiffOptions) error {
	const rows, facts = 100, 40
	v, p := newDiffView(d, o), newPrinter(w, o.Terminal)
	verdict := v.sentence()
	if s := v.status(); s.mark != "" {
		verdict = p.paint(s.mark) + ": " + verdict
	}
	p.line(verdict)
	p.blocks(v.blocks(rows, facts))
	return p.w.Flush()
}

// DiffMarkdown renders for GitHub within the limit. The numbers that matter
// least are left out first, and said to be.
func DiffMarkdown(w io.Writer, d diff.Difference, o DiffOptions) error {
	o.Limit = cmp.Or(o.Limit, MarkdownBytes)
	v := newDiffView(d, o)
	body := v.heading() + omitted([]string{"everything but the verdict"}) + "\n"
	for _, maximum := range []struct{ rows, facts int }{{200, 40}, {50, 40}, {15, 20}, {5, 5}, {0, 0}} {
		if s := v.markdown(maximum.rows, maximum.facts); len(s) <= max(o.Limit, minimum) {
			body = s
			break
		}
	}
	_, err := io.WriteString(w, body)
	return err
}

// diffView is a Difference with what Markdown and terminal need of it.
type diffView struct {
	diff.Difference
	options DiffOptions
	ranked  []diff.Row
	counts  map[diff.Verdict]int
}

func newDiffView(d diff.Difference, o DiffOptions) *diffView {
	return &diffView{Difference: d, options: o, ranked: d.Ranked(), counts: countVerdicts(d.Rows)}
}

// diffWords are the words of verdicts in a sum, in its order.
var diffWords = []struct {
	verdict   diff.Verdict
	word      string // in a row
	one, many string // after a number
}{
	{diff.Regression, "regression", "regression", "regressions"},
	{diff.Implausible, "implausible", "implausible", "implausible"},
	{diff.Missing, "missing", "missing", "missing"},
	{diff.Inconclusive, "inconclusive", "inconclusive", "inconclusive"},
	{diff.Improvement, "improvement", "improvement", "improvements"},
	{diff.New, "new", "new", "new"},
	{diff.Unknown, "direction unknown", "of unknown direction", "of unknown direction"},
	{diff.NoChange, "unchanged", "unchanged", "unchanged"},
}

// countVerdicts has an entry for every verdict there is.
func countVerdicts(rows []diff.Row) map[diff.Verdict]int {
	counts := map[diff.Verdict]int{}
	for _, w := range diffWords {
		counts[w.verdict] = 0
	}
	for i := range rows {
		counts[rows[i].Verdict]++
	}
	return counts
}

var refused = status{"❌", "REFUSED", "Refused"}

// status is empty where nothing was to be decided.
func (v *diffView) status() status {
	switch {
	case v.Refused != "":
		return refused
	case v.Failed:
		return failed
	case v.options.Strict:
		return passed
	}
	return status{}
}

// sentence holds nothing but our own words.
func (v *diffView) sentence() string {
	switch {
	case v.Refused != "" && len(v.Rows) > 0:
		return "there is no verdict, and the numbers are shown all the same"
	case v.Refused != "":
		return "there is no verdict"
	}
	var sum []string
	for _, w := range diffWords {
		sum = append(sum, clauses(clause{v.counts[w.verdict], "1 " + w.one, "%d " + w.many})...)
	}
	if len(sum) == 0 {
		return "No numbers to compare: name documents that hold measurements"
	}
	return strings.Join(sum, ", ") + " (tolerance " + bare(v.options.Tolerance*100) + ")"
}

func (v *diffView) heading() string {
	s := v.status()
	return fmt.Sprintf("### %s\n\n", strings.TrimSpace(s.sign+" "+s.headline(only(plain(v.sentence()))).markdown()))
}

func (v *diffView) markdown(rows, facts int) string {
	var b strings.Builder
	b.WriteString(v.heading())
	for i, block := range v.blocks(rows, facts) {
		if i > 0 {
			b.WriteByte('\n')
		}
		block.markdown(&b)
	}
	return b.String()
}

// maxRefused is in runes. The reason names every condition and its flag.
const maxRefused = 2000

func (v *diffView) blocks(rows, facts int) []block {
	sides := paragraph{bold("Baseline"), plain(" "), code(v.Baseline), plain(", "), bold("candidate"), plain(" "), code(v.Candidate)}
	blocks := []block{sides}
	if v.Refused != "" {
		blocks = append(blocks, paragraph{bold("Refused:"), plain(" "), {kind: prose, text: clip(v.Refused, maxRefused)}})
	}
	if context := v.context(facts); len(context) > 0 {
		blocks = append(blocks, context)
	}
	if len(v.ranked) > 0 {
		blocks = append(blocks, v.table(min(rows, len(v.ranked))))
	}
	if len(v.ranked) > rows {
		blocks = append(blocks, paragraph{plain("All of them: accelgate diff --format json")})
	}
	return blocks
}

// context lists the conditions that differ, those that refuse first.
func (v *diffView) context(maximum int) bullets {
	var differ []diff.ContextMatch
	for _, c := range v.Context {
		if !c.Match && c.Level != gate.Off {
			differ = append(differ, c)
		}
	}
	refuses := func(c diff.ContextMatch) int { return map[bool]int{true: 0, false: 1}[c.Level == gate.Fail] }
	slices.SortStableFunc(differ, func(a, b diff.ContextMatch) int { return cmp.Compare(refuses(a), refuses(b)) })
	var list bullets
	for _, c := range differ[:min(maximum, len(differ))] {
		word := map[bool]string{true: "refuse", false: "warn"}[c.Level == gate.Fail]
		list = append(list, inline{
			plain("differs: "),
			code(c.Name),
			plain(" "),
			code(c.Baseline),
			plain(" → "),
			code(c.Candidate),
			plain(" (" + word + ")"),
		})
	}
	if more := len(differ) - len(list); more > 0 {
		list = append(list, only(plain("differs: "+text.Plural(more, "more condition"))))
	}
	return list
}

// table shows the first rows. Cells and reasons have a column if there are any.
func (v *diffView) table(rows int) block {
	shown := v.ranked[:rows]
	cells := slices.ContainsFunc(shown, func(r diff.Row) bool { return r.Cell != "" })
	reasons := slices.ContainsFunc(shown, func(r diff.Row) bool { return r.Reason != "" })
	names := []string{"Metric", "Baseline>", "Candidate>", "Change>", "Relative>", "Verdict"}
	if cells {
		names = slices.Insert(names, 0, "Cell")
	}
	if reasons {
		names = append(names, "Reason~")
	}
	t := &table{columns: columns(names...), total: len(v.ranked)}
	for i := range shown {
		row := v.row(&shown[i])
		if cells {
			row = slices.Insert(row, 0, only(code(shown[i].Cell)))
		}
		if reasons {
			row = append(row, only(reason(shown[i].Reason)))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

func (v *diffView) row(r *diff.Row) []inline {
	metric := only(code(r.Metric))
	if r.Unit != "" {
		metric = append(metric, plain(" ("), reason(r.Unit), plain(")"))
	}
	word := string(r.Verdict)
	for _, w := range diffWords {
		if w.verdict == r.Verdict {
			word = w.word
		}
	}
	relative := none
	if r.DeltaRel != nil {
		relative = only(plain(v.relative(r)))
	}
	return []inline{
		metric,
		amountOrNone(r.Baseline, ""),
		amountOrNone(r.Candidate, ""),
		amountOrNone(r.DeltaAbs, "+"),
		relative,
		only(reason(word)),
	}
}

// amountOrNone writes a number, with plus before one above zero.
func amountOrNone(x *float64, plus string) inline {
	switch {
	case x == nil:
		return none
	case !(*x > 0):
		plus = ""
	}
	switch {
	case math.IsInf(*x, 1):
		return only(plain(plus + "infinite"))
	case math.IsInf(*x, -1):
		return only(plain("-infinite"))
	}
	return only(plain(plus + number(*x)))
}

// relative is the change of a row with what it means: "+31.0 % (worse)". What a
// metric of unknown direction means is not known.
func (v *diffView) relative(r *diff.Row) string {
	s := relativeChange(*r.DeltaRel*100, v.options.Tolerance*100)
	if word := r.Better.Word(*r.DeltaRel); r.Better != "" && word != "" {
		s += " (" + word + ")"
	}
	return s
}

// relativeChange is percent, for a limit that may be zero: it never shows a change,
// however small, as zero.
func relativeChange(pct, limit float64) string {
	if pct != 0 && math.Abs(pct) < 0.05 {
		return fmt.Sprintf("%+.2g %%", pct)
	}
	return percent(pct, limit)
}
