package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/terminal"
)

// Explained holds the reasons for the verdicts on one cell of one host. Names and reasons in it are
// as they were measured, so what shows them has to escape them.
type Explained struct {
	Host     string             `json:"host"`
	Cell     string             `json:"cell"`
	Suite    string             `json:"suite,omitempty"`
	Outcome  bench.Outcome      `json:"outcome,omitempty"` // absent where the run does not have the cell
	Verdicts []ExplainedVerdict `json:"verdicts"`
	// Unjudged are the metrics of the cell that no verdict is about.
	Unjudged []UnjudgedMetric `json:"unjudged,omitempty"`
	// Resources are what the cell used and no limit names.
	Resources []UnjudgedMetric `json:"resources,omitempty"`
	result    *bench.Result    // nil likewise
	old       *bench.Result    // of the reference; nil where it does not have the cell
	of        int              // the host
	findings  []finding        // one for each verdict
}

// ExplainedVerdict is a verdict with the rule that it follows and the values that it
// rests on.
type ExplainedVerdict struct {
	*VerdictDocument
	Rule   string    `json:"rule"`
	Stages []string  `json:"stages,omitempty"`
	Values []float64 `json:"values,omitempty"`
	// Base are the values of the base, each measured beside one of the last Values.
	Base []float64 `json:"base_values,omitempty"`
	// Selected is how many of the first Values chose the cell and do not count.
	Selected int `json:"selected,omitempty"`
	// Reference is what the reference keeps of the metric; History are earlier runs of
	// the host, the oldest first.
	Reference *bench.Summary `json:"reference_summary,omitempty"`
	History   [][]float64    `json:"history,omitempty"`
}

// UnjudgedMetric is a metric that was measured and not judged.
type UnjudgedMetric struct {
	Metric string    `json:"metric"`
	Values []float64 `json:"values"`
	Base   []float64 `json:"base_values,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

// CellIDs are the ids of all cells that have a verdict, each once, in the order of the
// report.
func (r Report) CellIDs() (ids []string) {
	seen := map[string]bool{}
	for i := range r.hosts {
		for k := range r.hosts[i].Comparison.Verdicts {
			if id := r.hosts[i].Comparison.Verdicts[k].Cell; id != "" && !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// Explain returns what the gate decided on each host's cells with these ids, and why. It
// decides nothing.
func (r Report) Explain(ids []string) (list []Explained) {
	wanted := make(map[string]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	for i := range r.hosts {
		h := &r.hosts[i]
		results, olds := lookup(h.Run, wanted), lookup(h.Reference, wanted)
		at := map[string]int{}
		for k := range h.Comparison.Verdicts {
			v := &h.Comparison.Verdicts[k]
			if !wanted[v.Cell] {
				continue
			}
			n, known := at[v.Cell]
			if !known {
				n = len(list)
				at[v.Cell] = n
				list = append(list, Explained{Host: h.Run.Host.Label, Cell: v.Cell, of: i, result: results[v.Cell], old: olds[v.Cell]})
				if res := results[v.Cell]; res != nil {
					list[n].Suite, list[n].Outcome = res.Cell.Suite, res.Outcome
				}
			}
			list[n].add(&r.in.Policy, h, v)
		}
	}
	for i := range list {
		list[i].rest(&r.hosts[list[i].of])
	}
	return list
}

// rest adds the metrics that no verdict is about.
func (x *Explained) rest(h *host) {
	if x.result == nil {
		return
	}
	for i := range x.result.Samples {
		s := &x.result.Samples[i]
		if len(s.Values) > 0 && !slices.ContainsFunc(x.findings, func(f finding) bool { return f.Metric == s.Metric }) {
			x.Unjudged = append(x.Unjudged, UnjudgedMetric{s.Metric, s.Values, s.Base, h.whyUnjudged(s)})
		}
	}
	for i := range x.result.Resources {
		s := &x.result.Resources[i]
		x.Resources = append(x.Resources, UnjudgedMetric{Metric: s.Metric, Values: s.Values})
	}
}

func (x *Explained) add(p *gate.Policy, h *host, v *gate.Verdict) {
	d := ExplainedVerdict{VerdictDocument: h.finiteVerdict(*v), Rule: h.ruleOf(p, x.result, v), Stages: stagesOf(h, x.result, v)}
	if s := sampleOf(x.result, v.Metric); s != nil {
		d.Values, d.Base, d.Selected = s.Values, s.Base, max(x.result.Selected, choosing(&v.Evidence))
	}
	if s := sampleOf(x.old, v.Metric); s != nil {
		d.Reference, d.History = s.Summary, s.History
	}
	x.Verdicts = append(x.Verdicts, d)
	x.findings = append(x.findings, finding{host: x.of, Verdict: v, line: h.crashLine(v)})
}

// sampleOf is nil where either is missing.
func sampleOf(res *bench.Result, metric string) *bench.Sample {
	if res == nil {
		return nil
	}
	return res.Sample(metric)
}

// ExplainJSON writes what Explain returns.
func ExplainJSON(w io.Writer, list []Explained) error {
	return text.WriteJSON(w, " ", list)
}

// ExplainText writes what Explain returns for a terminal.
func (r Report) ExplainText(w io.Writer, list []Explained, o TerminalOptions) error {
	p := newPrinter(w, o)
	for i := range list {
		if i > 0 {
			p.line("")
		}
		r.explainCell(&p, &list[i])
	}
	return p.w.Flush()
}

func (r *Report) explainCell(p *printer, x *Explained) {
	h := &r.hosts[x.of]
	p.line(inline{code(x.Cell), plain(" on "), code(x.Host)}.String())
	p.line("  " + x.about().String())
	if line := used(x.result); line != nil {
		p.line("  used: " + line.String())
	}
	for i, f := range x.findings {
		p.line("")
		r.explainVerdict(p, f, &x.Verdicts[i])
	}
	for _, m := range x.Unjudged {
		p.line("")
		head := "  " + only(code(m.Metric)).String() + ": not judged"
		if m.Reason != "" {
			head += ": " + m.Reason
		}
		p.line(head)
		p.strip([]dots{{"base", m.Base}, {"now", m.Values}}, r.unit(finding{host: x.of, Verdict: &gate.Verdict{Metric: m.Metric}}))
	}
	if res := x.result; res != nil && res.Outcome != bench.Passed {
		p.blocks(quoted("Answer", "it goes on", res.Output, false))
		p.blocks(quoted("Log", "its end", res.Log, true))
	}
	for _, f := range x.findings {
		h.results = map[string]*bench.Result{x.Cell: x.result}
		h.olds = map[string]*bench.Result{x.Cell: x.old}
		if parts := r.explain(f); parts != nil {
			p.line("")
			p.blocks(parts)
			break
		}
	}
	if x.result != nil && slices.ContainsFunc(x.findings, func(f finding) bool { return f.Blocks }) && len(x.Cell) <= typable {
		p.line("")
		p.line("Next: measure it again: " + terminal.Whole(visible(h.Commands.Cell+" --only "+text.ShellQuote(x.Cell))))
	}
}

// about is "suite quickstart, passed, on nvidia:0, after 1 retry".
func (x *Explained) about() inline {
	if x.result == nil {
		return only(plain("the run does not have this cell"))
	}
	line := inline{plain("suite "), code(x.Suite), plain(", " + string(x.Outcome))}
	if x.result.Device != "" {
		line = append(line, plain(", on "), code(x.result.Device))
	}
	if n := x.result.Retries; n > 0 {
		line = append(line, plain(", after "+text.Plural(n, "retry")))
	}
	return line
}

func (r *Report) explainVerdict(p *printer, f finding, d *ExplainedVerdict) {
	head := "  " + f.word()
	if f.Blocks {
		head += ", blocks"
	}
	if f.Metric != "" {
		head = "  " + metricName(f).String() + ": " + strings.TrimSpace(head)
	}
	p.line(head)
	row := func(name string, line inline) {
		if s := line.String(); s != "" {
			p.note(fmt.Sprintf("    %-8s ", name), s)
		}
	}
	if ofSpeed(f.Verdict) || f.Evidence.Method == gate.MethodExact {
		row("change", r.change(f))
	}
	row("rule", only(plain(d.Rule)))
	row("evidence", only(plain(basis(&f.Evidence))))
	if f.Undecided() {
		row("decided", only(plain("by "+deciders[f.DecidedBy])))
	}
	row("excuse", excuseOf(f.Verdict))
	row("host", only(reason(f.Health)))
	for _, s := range d.Stages {
		row("stage", only(reason(s)))
	}
	row("cpu time", only(reason(processorTime(f.Evidence.Processor))))
	if f.Reason != "" {
		row("reason", only(reason(f.because())))
	}
	p.strip(d.rows(), r.unit(f))
}

// note writes text beside a name, below which the text goes on.
func (p *printer) note(name, text string) {
	lines := []string{text}
	if !p.log {
		lines = terminal.Fold(text, p.options.Columns-len(name)-2)
	}
	for i, line := range lines {
		if i > 0 {
			name, line = strings.Repeat(" ", len(name)), strings.TrimLeft(line, " ")
		}
		p.line(name + terminal.Whole(line))
	}
}

func (p *printer) strip(rows []dots, unit string) {
	for _, line := range strip(rows, visible(unit), stripWidth(p.options.Columns)) {
		p.line("    " + line)
	}
}

func (r *Report) unit(f finding) string {
	if m := r.hosts[f.host].metrics[f.Metric]; m != nil {
		return shorten(m.Unit, 20)
	}
	return ""
}

// rows are the values of a verdict for a strip.
func (d *ExplainedVerdict) rows() []dots {
	const maximum = 20 // runs
	var earlier, median, recorded []float64
	for _, run := range d.History[max(0, len(d.History)-maximum):] {
		earlier = append(earlier, run...)
	}
	if d.Reference != nil {
		median = []float64{d.Reference.Median}
	}
	if d.Old != 0 && !d.Evidence.InPairs && (d.Reference == nil || d.Old != d.Reference.Median) {
		recorded = []float64{d.Old}
	}
	chose := min(d.Selected, len(d.Values))
	return []dots{
		{"history", earlier},
		{"baseline", median},
		{"recorded", recorded},
		{"base", d.Base},
		{"chose", d.Values[:chose]},
		{"now", d.Values[chose:]},
	}
}

func stripWidth(columns int) int { return min(60, max(10, columns-len("    baseline ||  "))) }
