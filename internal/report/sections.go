package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
)

// caps are the numbers of rows one rendering shows at most.
type caps struct{ action, folded int }

func (r *Report) page(c caps) page {
	st, sentence := r.verdict()
	return page{
		status:    st,
		sentence:  sentence,
		lead:      r.lead(),
		hosts:     r.hostTable(),
		action:    r.actionTable(c.action),
		undecided: r.undecidedTable(2 * c.action),
		excused:   r.excusedTable(2 * c.action),
		next:      r.next(),
		folded:    r.folded(c),
		footer:    r.footer(c.action),
	}
}

// lead is what every reader must see: other hosts, what was compared, and what
// the numbers do not show.
func (r *Report) lead() []block {
	blocks := append(append(r.otherMachines(), r.checkedChanges()...), r.provenance(), paragraph{plain(r.sum())})
	blocks = append(blocks, r.onset()...)
	blocks = append(blocks, r.sharedLoss()...)
	blocks = append(blocks, r.quarantined()...)
	blocks = append(blocks, r.notJudged()...)
	blocks = append(blocks, r.uncounted()...)
	blocks = append(blocks, r.addedNotes()...)
	blocks = append(blocks, r.notMeasured()...)
	blocks = append(blocks, r.unhealthy()...)
	blocks = append(blocks, r.retried()...)
	blocks = append(blocks, r.power()...)
	return append(blocks, r.pairs()...)
}

func (r *Report) footer(maximum int) string {
	const all = "the JSON report has all verdicts"
	if r.shown.action.total == 0 {
		if r.in.Decision.Status == gate.StatusPassed {
			return "nothing needs action; " + all
		}
		return all
	}
	need := "need action are"
	if r.shown.action.total == 1 {
		need = "needs action is"
	}
	return fmt.Sprintf("%d of %s that %s shown; %s",
		r.shown.action.listed(maximum), text.Plural(r.shown.action.total, "row"), need, all)
}

// provenance returns what was compared, and where more can be read.
func (r *Report) provenance() block {
	line := inline{plain("Revision "), r.orUnknown(r.in.Revision)}
	if r.in.Base != "" {
		line = append(line, plain(" against the baselines of "))
		if r.in.BaseBranch != "" {
			line = append(line, code(text.OneLine(r.in.BaseBranch)), plain(" at "))
		}
		line = append(line, code(commit(r.in.Base)))
	}
	line = append(line, r.inTurnsWith()...)
	line = append(line, plain(" · "+r.limit()))
	if r.in.Links.Run != "" {
		line = append(line, plain(" · "), link("workflow run", r.in.Links.Run))
	}
	if r.in.Links.Report != "" {
		line = append(line, plain(" · "), link("whole report", r.in.Links.Report))
	}
	return paragraph(line)
}

// inTurnsWith names the bases that pairs were measured with.
func (r *Report) inTurnsWith() (line inline) {
	var told []string
	for i := range r.hosts {
		if base := r.hosts[i].Run.Base; base != "" && !slices.Contains(told, base) && len(told) < maxCautions {
			told = append(told, base)
			line = append(line, plain(" · paired with "), code(commit(base)))
			if files := r.hosts[i].Run.Context[bench.FromHead]; files != "" {
				line = append(line, plain(", which had the head's "), code(text.OneLine(files)))
			}
		}
	}
	return line
}

func (r *Report) orUnknown(revision string) span {
	if revision == "" {
		return plain("unknown")
	}
	return code(commit(revision))
}

// notJudged explains, for each host whose speed was not judged, the reason and the
// commands that help. Where no cell passed there is nothing to record.
func (r *Report) notJudged() []block {
	const maximum = 5
	var blocks []block
	var shown []string // hosts without flags of their own have the same commands
	n := 0
	for i := range r.hosts {
		h := &r.hosts[i]
		if !h.notJudged() || h.Comparison.Passed == 0 || h.refused > 0 {
			continue
		}
		if n++; n > maximum {
			continue
		}
		advice, commands := r.advice(h)
		line := inline{bold("Speed was not judged"), plain(" on "), code(h.Run.Host.Label), plain(": "),
			reason(h.Comparison.Unjudged), plain(". ")}
		blocks = append(blocks, paragraph(append(line, advice...)))
		if said := strings.Join(commands, "\n"); !slices.Contains(shown, said) {
			blocks, shown = append(blocks, preformatted(commands)), append(shown, said)
		}
	}
	if n > maximum {
		blocks = append(blocks, paragraph{plain("… and " + text.Plural(n-maximum, "more host") + " whose speed was not judged")})
	}
	return blocks
}

func (r *Report) advice(h *host) (inline, []string) {
	forced := ""
	if h.fails() {
		forced = force
	}
	if h.Path == "" && len(h.checks) > 0 { // a replay, which no baseline can be made of
		return inline{plain("To record times in the case files, one cell at a time, type:")},
			[]string{visible(h.Commands.Refresh+h.onlyUnrecorded()) + ` --reason "first times"`}
	}
	if h.Reference == nil {
		return inline{plain("To record this host in "), code(h.Path), plain(", type on it:")},
			[]string{h.update("first baseline") + forced}
	}
	if ok, _ := h.Run.Host.Comparable(h.Reference.Host.Fingerprint); !ok && !h.replaces() {
		return inline{
				plain("Values of this host can replace "),
				code(h.Path),
				plain(" once every cell of it passes here. To give this host a label of its own and keep both, type:"),
			},
			[]string{
				visible(h.Commands.UpdateAs+newLabel+` --reason "second host"`) + forced,
			}
	} else if !ok {
		return inline{plain("To replace "), code(h.Path), plain(" by values of this host, or to give this host a label of its own and keep both, type one of:")},
			[]string{h.update("new host") + forced, visible(h.Commands.UpdateAs+newLabel+` --reason "second host"`) + forced}
	}
	if !h.lacksNumbers() {
		return inline{plain("To judge the cells then, type:")}, []string{visible(h.Commands.Run)}
	}
	return inline{plain("To add the cells of this run to "), code(h.Path), plain(", type:")},
		[]string{h.update("new cells") + forced}
}

// lacksNumbers reports whether a new reference would have a number of a cell that passed
// which this one lacks.
func (h *host) lacksNumbers() bool {
	recorded := h.Reference.ByID()
	for i := range h.Run.Results {
		r := &h.Run.Results[i]
		old := recorded[r.Cell.ID()]
		switch {
		case r.Outcome != bench.Passed || r.Caveat != "":
			continue
		case old == nil || old.Outcome != bench.Passed:
			return true
		}
		for k := range r.Samples {
			s := &r.Samples[k]
			if s.Caveat == "" && old.Sample(s.Metric) == nil && h.Run.NoReference(s.Metric, s.Median()) == "" {
				return true
			}
		}
	}
	return false
}

// replaces reports whether each cell of the reference passed in the run. Unless it
// did, a baseline of another machine is not overwritten: it would hold both's numbers.
func (h *host) replaces() bool {
	passed := make(map[string]bool, len(h.Run.Results))
	for i := range h.Run.Results {
		passed[h.Run.Results[i].Cell.ID()] = h.Run.Results[i].Outcome == bench.Passed
	}
	return !slices.ContainsFunc(h.Reference.Results, func(r bench.Result) bool { return !passed[r.Cell.ID()] })
}

// status is the host's share in the decision.
func (h *host) status() status {
	switch {
	case h.fails():
		return failed
	case h.Comparison.Passed == 0:
		return noEvidence
	case h.losses() > 0:
		return undecided
	case h.notJudged() || h.reservations() != "":
		return warned
	}
	return passed
}

// hostTable puts the hosts that need action first.
func (r *Report) hostTable() block {
	t := &table{total: len(r.hosts), columns: columns("Host", "Device~", "Verdict", "Correct>", "Speed>", "Noise>", "Baseline")}
	order := make([]int, len(r.hosts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(r.hosts[b].refused-r.hosts[a].refused, r.hosts[b].blocked()-r.hosts[a].blocked(),
			r.hosts[b].losses()-r.hosts[a].losses(), len(r.hosts[b].brief())-len(r.hosts[a].brief()))
	})
	for _, i := range order[:min(maxHosts, len(order))] {
		t.rows = append(t.rows, r.hostRow(&r.hosts[i]))
	}
	return t
}

func (r *Report) hostRow(h *host) []inline {
	verdict := inline{state(h.status()), plain(" " + h.words())}
	change := none
	if line := h.speeds.words(h.limits.lo); line != nil {
		change = line
	}
	baseline := only(plain("none"))
	if h.Reference != nil {
		baseline = inline{plain(age(h.Reference.Started, r.in.Now))}
		if rev := h.Reference.Revision; rev != "" {
			baseline = append(baseline, plain(", "), code(commit(rev)))
		}
	}
	return []inline{only(code(h.Run.Host.Label)), only(code(h.Run.Host.Device())), verdict,
		only(plain(h.correct())), change, only(plain(h.speeds.noise())), baseline}
}

// correct is how many of the answers that were checked are right.
func (h *host) correct() string {
	if h.checked+h.incorrect == 0 {
		return "–"
	}
	return fmt.Sprintf("%d/%d checked", h.checked, h.checked+h.incorrect)
}

// words is the host's verdict in short: "1 wrong, 2 slower".
func (h *host) words() string {
	var parts []string
	switch s := h.status(); s {
	case passed:
		return "nothing worse"
	case noEvidence:
		if h.Comparison.NoEvidence != "" {
			return "nothing counts"
		}
		return "no cell passed"
	}
	if h.refused > 0 {
		parts = append(parts, "another host")
	}
	for i, n := range h.failing {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, labels[i].word))
		}
	}
	if h.budgets > 0 {
		parts = append(parts, text.Plural(h.budgets, "budget")+" blocking")
	}
	if h.shifted > 0 {
		parts = append(parts, "all cells together slower")
	}
	parts = append(parts, h.brief()...)
	if h.notJudged() && h.refused == 0 {
		parts = append(parts, "speed not judged")
	}
	return strings.Join(parts, ", ")
}
