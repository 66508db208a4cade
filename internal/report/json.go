package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
)

// DocumentSchema is the version of [Document] written by this build.
const DocumentSchema = 3

// Document is the JSON form of a report. Unlike the others it leaves nothing
// out. Names and reasons in it are as they were measured, so what shows them
// has to escape them.
type Document struct {
	Schema   int         `json:"schema"`
	Tool     string      `json:"tool"`
	Status   gate.Status `json:"status"`
	Title    string      `json:"title"` // the verdict in one sentence
	Created  time.Time   `json:"created,omitzero"`
	Revision string      `json:"revision,omitempty"`
	Base     string      `json:"base,omitempty"`
	// BaseBranch is the branch of Base; absent where it is not known.
	BaseBranch string        `json:"base_branch,omitempty"`
	Config     string        `json:"config,omitempty"`
	RunURL     string        `json:"run_url,omitempty"`
	Policy     gate.Policy   `json:"policy"`
	Totals     Totals        `json:"totals"`
	Decision   gate.Decision `json:"decision"`
	// CheckedChanges is what the pull request changes in what is checked.
	CheckedChanges *CheckedChanges `json:"checked_changes,omitempty"`
	Hosts          []HostDocument  `json:"hosts"`
}

// HostDocument is one host of a [Document].
type HostDocument struct {
	Host       string               `json:"host"`
	Device     string               `json:"device"`
	Machine    bench.Fingerprint    `json:"machine"`
	Revision   string               `json:"revision,omitempty"`
	Started    time.Time            `json:"started,omitzero"`
	Baseline   *BaselineDocument    `json:"baseline"`              // null where there is none
	Unjudged   string               `json:"unjudged,omitempty"`    // why speed was not judged
	NoEvidence string               `json:"no_evidence,omitempty"` // why nothing of the run counts
	Measured   int                  `json:"measured"`
	Right      int                  `json:"right"`
	Checked    int                  `json:"checked"` // see [Totals]
	Uncompared []gate.Uncompared    `json:"uncompared,omitempty"`
	Unselected int                  `json:"unselected,omitempty"`
	LeftOut    int                  `json:"left_out,omitempty"`
	Retried    int                  `json:"retried,omitempty"`
	Noise      *gate.Noise          `json:"noise,omitempty"`      // of the run's A/A pairs
	Power      []gate.Power         `json:"power,omitempty"`      // which losses could have been seen, by method
	Began      *gate.SuspectRange   `json:"onset,omitempty"`      // with which commits the losses began that this run confirms
	Alike      []SharedLossDocument `json:"alike,omitempty"`      // losses that cells share
	Budgets    []BudgetDocument     `json:"budgets,omitempty"`    // what became of each
	Groups     []compat.CaseGroup   `json:"groups,omitempty"`     // of cases, with the status of each
	Waivers    []gate.WaiverUse     `json:"waivers,omitempty"`    // about this host; the decision has all hosts
	Quarantine []gate.QuarantineUse `json:"quarantine,omitempty"` // about this host
	Metrics    []bench.Metric       `json:"metrics"`
	Warnings   []string             `json:"warnings,omitempty"`
	Checks     []compat.Check       `json:"checks,omitempty"` // all of the cells of case files, in the order of the run
	Verdicts   []VerdictDocument    `json:"verdicts"`         // all, the worst first; those that are alike in the order of the run
}

// BaselineDocument describes what a host was compared with.
type BaselineDocument struct {
	Path     string            `json:"path,omitempty"`
	Source   *Source           `json:"source,omitempty"` // nil where it is a file of the checkout
	Host     string            `json:"host,omitempty"`
	Captured time.Time         `json:"captured,omitzero"`
	Commit   string            `json:"commit,omitempty"`
	Machine  bench.Fingerprint `json:"machine"`
	Warnings []string          `json:"warnings,omitempty"`
}

// VerdictDocument is a verdict. JSON has no NaN and no infinity: a number that
// is one is written as 0, and NotFinite is set.
type VerdictDocument struct {
	gate.Verdict
	// Certainty is "certain", or "undecided": then decided_by names what would decide it.
	Certainty string `json:"certainty"`
	// Delta hides the gate's own: a document has one sign for a change.
	Delta *struct{} `json:"delta,omitempty"`
	// Change is new/old - 1 in the metric's own sign, a fraction; nil where no two
	// numbers were compared. By pairs and history it is the estimate that was
	// judged, and not the change of the two medians. Interval
	// is the interval of Change, see [gate.Verdict]; Better is nil for no change, too.
	Change    *float64    `json:"change"`
	Better    *bool       `json:"better"`
	Interval  *[2]float64 `json:"interval"`
	NotFinite bool        `json:"not_finite,omitempty"`
}

// JSON renders a [Document], one verdict, check or operator a line. They are
// written as they are encoded, so memory does not grow with their number.
func JSON(w io.Writer, r Report) error {
	e := encoder{w: bufio.NewWriterSize(w, 64<<10)}
	e.json = json.NewEncoder(&e.line)
	e.open(r.document())
	for i := range r.hosts {
		h := &r.hosts[i]
		e.separate(i)
		e.begin(h.document(), `"verdicts":null}`)
		e.checks(h.Comparison.Checks)
		e.text(`"verdicts":[`)
		for k, v := range h.worstFirst() {
			e.separate(k)
			e.value(h.finiteVerdict(*v))
		}
		e.text("\n]}")
	}
	e.text("\n]}\n")
	if e.err != nil {
		return e.err
	}
	return e.w.Flush()
}

// encoder streams the nested arrays of a Document: hosts, checks, operators and
// verdicts are the last members of their structs, or nearly.
type encoder struct {
	w    *bufio.Writer
	line bytes.Buffer
	json *json.Encoder
	err  error
}

func (e *encoder) text(s string) { e.w.WriteString(s) }

func (e *encoder) separate(i int) {
	if i > 0 {
		e.text(",")
	}
	e.text("\n")
}

// open writes a value and leaves its last member, an array that is still null,
// open.
func (e *encoder) open(v any) {
	e.begin(v, "null}")
	e.text("[")
}

// begin writes a value without its end.
func (e *encoder) begin(v any, end string) {
	e.encode(v)
	e.w.Write(bytes.TrimSuffix(e.line.Bytes(), []byte(end)))
}

func (e *encoder) value(v any) {
	e.encode(v)
	e.w.Write(e.line.Bytes())
}

// encode fills line. "##[" would be a command to GitHub's runner wherever in a
// log it occurs; in JSON it can only be inside a string.
func (e *encoder) encode(v any) {
	e.line.Reset()
	if err := e.json.Encode(v); err != nil && e.err == nil {
		e.err = err
	}
	e.line.Truncate(max(0, e.line.Len()-1)) // the encoder's newline
	if b := e.line.Bytes(); bytes.Contains(b, []byte("##[")) {
		b = bytes.ReplaceAll(b, []byte("##["), []byte(`##\u005b`))
		e.line.Reset()
		e.line.Write(b)
	}
}

func (r *Report) document() *Document {
	decision := r.in.Decision
	decision.Waivers = finiteWaivers(decision.Waivers)
	return &Document{
		Schema: DocumentSchema, Tool: r.in.Tool, Status: r.in.Decision.Status, Title: r.Title(),
		Created: r.in.Now, Revision: r.in.Revision, Base: r.in.Base, BaseBranch: r.in.BaseBranch, Config: r.in.Config,
		RunURL: r.in.Links.Run,
		Policy: r.in.Policy, Totals: r.Totals(), Decision: decision, CheckedChanges: r.in.Checked,
	}
}

func (h *host) document() *HostDocument {
	d := &HostDocument{
		Host: h.Run.Host.Label, Device: h.Run.Host.Device(), Machine: finiteMachine(h.Run.Host.Fingerprint),
		Revision: h.Run.Revision, Started: h.Run.Started, Unjudged: h.Comparison.Unjudged, NoEvidence: h.Comparison.NoEvidence,
		Measured: h.measured, Right: h.right, Checked: h.checked, Uncompared: h.Comparison.Uncompared, Unselected: h.unselected,
		LeftOut: h.leftOut, Retried: h.retried, Noise: finiteNoise(h.Comparison.Noise), Power: finitePower(h.Comparison.Power),
		Began: h.Comparison.SuspectRange, Alike: h.sharedLossDocuments(), Budgets: h.budgetDocuments(), Groups: h.Comparison.Groups,
		Waivers:    finiteWaivers(h.Comparison.Waivers),
		Quarantine: h.Comparison.Quarantine, Metrics: h.Run.Metrics, Warnings: warningsOf(h.Run),
	}
	if ref := h.Reference; ref != nil {
		d.Baseline = &BaselineDocument{Path: h.Path, Source: h.Source, Host: ref.Host.Label, Captured: ref.Started,
			Commit: ref.Revision, Machine: finiteMachine(ref.Host.Fingerprint), Warnings: ref.Warnings}
	}
	return d
}

func finiteMachine(f bench.Fingerprint) bench.Fingerprint {
	f.MemoryGiB = finite(f.MemoryGiB)
	accelerators := make([]bench.Accelerator, len(f.Accelerators))
	for i, a := range f.Accelerators {
		a.MemoryGiB = finite(a.MemoryGiB)
		accelerators[i] = a
	}
	f.Accelerators = accelerators
	return f
}

// worstFirst are the verdicts in the order of [gate.Worse].
func (h *host) worstFirst() []*gate.Verdict {
	sorted := make([]*gate.Verdict, len(h.Comparison.Verdicts))
	for i := range sorted {
		sorted[i] = &h.Comparison.Verdicts[i]
	}
	slices.SortStableFunc(sorted, gate.Worse)
	return sorted
}

func finitePower(all []gate.Power) []gate.Power {
	out := make([]gate.Power, len(all))
	for i, p := range all {
		p.Half, p.Ninety = finite(p.Half), finite(p.Ninety)
		out[i] = p
	}
	return out
}

func finiteNoise(n *gate.Noise) *gate.Noise {
	if n == nil {
		return nil
	}
	metrics := make([]gate.MetricNoise, len(n.Metrics))
	for i, m := range n.Metrics {
		m.Median, m.Largest = finite(m.Median), finite(m.Largest)
		metrics[i] = m
	}
	return &gate.Noise{Pairs: n.Pairs, Metrics: metrics}
}

func (h *host) finiteVerdict(v gate.Verdict) *VerdictDocument {
	d := &VerdictDocument{Verdict: v, Certainty: v.Certainty()}
	h.changeDocument(d)
	for _, x := range []*float64{&d.Old, &d.New, &d.Verdict.Delta, &d.Verdict.Interval[0], &d.Verdict.Interval[1],
		&d.Evidence.Limit, &d.Evidence.Noise,
		&d.Evidence.P, &d.Evidence.Q, &d.Evidence.NoiseFloor, &d.Evidence.MDE, &d.Evidence.StdErr} {
		if math.IsNaN(*x) || math.IsInf(*x, 0) {
			*x, d.NotFinite = 0, true
		}
	}
	if t := d.Evidence.Processor; t != nil {
		t := *t
		t.Change, t.Interval = finite(t.Change), [2]float64{finite(t.Interval[0]), finite(t.Interval[1])}
		t.P, t.Q, t.Waited = finite(t.P), finite(t.Q), finite(t.Waited)
		t.Threads = [2]float64{finite(t.Threads[0]), finite(t.Threads[1])}
		d.Evidence.Processor = &t
	}
	return d
}
