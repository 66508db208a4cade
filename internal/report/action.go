package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/reference/waiver"
	"github.com/accelgate/accelgate/internal/text"
)

// actionTable shows the worst of each class, and below them the causes that many
// cells share.
func (r *Report) actionTable(maximum int) []block {
	a := &r.shown.action
	var blocks []block
	if rows := a.single(maximum); len(rows) > 0 {
		t := &table{
			total:   len(rows),
			notes:   true,
			columns: r.columns("Cell", "Metric", "Baseline → now>", "Change>", "Limit>", "Evidence~"),
		}
		for _, f := range rows {
			t.rows = append(t.rows, r.actionRow(f))
		}
		blocks = append(blocks, r.withHistory(t, rows))
	}
	if rest := a.rest(maximum); rest != nil {
		blocks = append(blocks, paragraph(append(inline{plain("… and ")}, rest...)))
	}
	if shared := r.sharedCauses(); shared != nil {
		blocks = append(blocks, shared)
	}
	return blocks
}

// sharedCauses has a line for each cause, with the first cells.
func (r *Report) sharedCauses() bullets {
	var items bullets
	verdicts := 0
	for i, f := range r.shown.action.shared {
		if i >= maxShared {
			verdicts += f.cause.n
			continue
		}
		var cells []string
		for _, one := range f.cause.first[:2] {
			cells = append(cells, one.Cell)
		}
		item := append(r.on(f, f.sharedCause()), plain("; such as "))
		items = append(items, append(item, such(cells, f.cause.n)...))
	}
	if verdicts > 0 {
		items = append(items,
			inline{plain(fmt.Sprintf("%d more of %s", verdicts, text.Plural(len(r.shown.action.shared)-maxShared, "other cause")))})
	}
	return items
}

// columns inserts the host after the cell where there are several hosts.
func (r *Report) columns(names ...string) []column {
	if len(r.hosts) > 1 {
		names = slices.Insert(slices.Clone(names), 1, "Host~")
	}
	return columns(names...)
}

// row begins a row of the table whose columns are made by [Report.columns].
func (r *Report) row(f finding, cells ...inline) []inline {
	row := []inline{r.linked(f)}
	if len(r.hosts) > 1 {
		row = append(row, only(code(r.hosts[f.host].Run.Host.Label)))
	}
	return append(row, cells...)
}

// cell returns the name of the cell, or words for a verdict on more than one.
func (f finding) cell() inline {
	switch {
	case f.alike != nil:
		return append(inline{plain(allOf(f.alike))}, ofSuite(f.alike)...)
	case f.Budget > 0:
		return only(plain("the budget or fit"))
	case f.Finding == gate.OtherHost:
		return only(plain("the host as a whole"))
	case f.Cell == "":
		return only(plain("all cells together"))
	}
	return only(code(f.Cell))
}

func (r *Report) actionRow(f finding) []inline {
	size, more := r.changed(f)
	change := inline{bold(size), plain(more)}
	switch {
	case f.hasChange():
		change = append(inline{bold(f.word()), plain(", ")}, change...)
	case f.Finding == gate.PartsDiffer, !ofSpeed(f.Verdict):
		change = only(bold(f.word()))
	}
	row := r.row(f, metricName(f), r.values(f), change, limitsIn(f.Verdict), r.explained(f))
	if f.Budget > 0 {
		row[0] = r.budgetOf(f)
	}
	return row
}

// why is the evidence with what decides the finding, or excuses it.
func (r *Report) why(f finding) inline {
	line := r.explained(f)
	if f.Excuse != nil {
		return append(append(line, plain("; ")), excuseOf(f.Verdict)...)
	}
	if f.Undecided() {
		return append(line, plain("; decided by "+deciders[f.DecidedBy]))
	}
	return line
}

// explained is the evidence, with the operator behind it where that is known.
func (r *Report) explained(f finding) inline {
	maximum := r.contributor(f)
	if maximum == nil {
		return evidence(f)
	}
	return append(append(maximum, plain("; ")), evidence(f)...)
}

func metricName(f finding) inline {
	if f.Metric == "" {
		return none
	}
	return only(code(f.Metric))
}

// values is "95.3 → 80.1 tok/s", as far as the verdict has the numbers.
func (r *Report) values(f finding) inline {
	if f.Metric == "" || f.alike != nil {
		return none
	}
	unit := plain("")
	if m := r.hosts[f.host].metrics[f.Metric]; m != nil && m.Unit != "" {
		unit = reason(" " + m.Unit)
	}
	switch {
	case f.Finding == gate.Missing && f.Old == 0: // the baseline has none either
		return none
	case f.Finding == gate.Missing:
		return inline{plain(number(f.Old)), unit, plain(" → none")}
	case f.Finding == gate.OutOfBounds:
		return r.now(f)
	case f.Finding == gate.Incomparable && f.Cell != "" &&
		f.Old == 0 && f.Evidence.OldN == 0 && f.Evidence.Method == "": // the baseline has none
		return r.now(f)
	case f.Finding == gate.Untracked && f.Old == 0:
		return inline{plain("none → " + number(f.New)), unit}
	case f.Finding == gate.PartsDiffer: // its numbers belong to one operator, which the reason names
		return none
	case f.Old == 0 && f.New == 0 && !ofSpeed(f.Verdict):
		return none
	}
	old, now := number(f.Old), number(f.New)
	if old == now && f.Old != f.New && f.Finding != gate.Unchanged {
		old, now = fmt.Sprint(f.Old), fmt.Sprint(f.New)
	}
	return inline{plain(old + " → " + now), unit, r.hosts[f.host].against(f.Verdict)}
}

// evidence is what the verdict rests on: numbers, retries, device and reason.
func evidence(f finding) inline {
	if f.alike != nil {
		return inline{reason(f.alike.Reason), plain("; such as "), code(f.Cell)}
	}
	var parts []inline
	if s := basis(&f.Evidence); s != "" {
		parts = append(parts, only(plain(s)))
	}
	if f.Retries > 0 {
		parts = append(parts, only(plain("after "+text.Plural(f.Retries, "retry"))))
	}
	if f.Device != "" {
		parts = append(parts, inline{plain("on "), code(f.Device)})
	}
	if f.Reason != "" || len(parts) == 0 {
		parts = append(parts, only(reason(f.because())))
	}
	if f.Health != "" && !strings.Contains(f.Reason, f.Health) {
		parts = append(parts, only(reason(f.Health)))
	}
	line := parts[0]
	for _, p := range parts[1:] {
		line = append(append(line, plain("; ")), p...)
	}
	return line
}

// now is the number of the run, without one to compare with.
func (r *Report) now(f finding) inline {
	line := inline{plain(number(f.New))}
	if m := r.hosts[f.host].metrics[f.Metric]; m != nil && m.Unit != "" {
		line = append(line, reason(" "+m.Unit))
	}
	return line
}

// basis is what two speeds were compared by: how many values, how sure, how
// noisy they are, and what they could have found.
func basis(e *gate.Evidence) string {
	s := ""
	switch e.Method {
	case gate.MethodDigest:
		return "nothing that is measured has changed"
	case gate.MethodThreshold, gate.MethodSessions:
		s = fmt.Sprintf("n=%d+%d", e.OldN, e.NewN)
		if e.OldN > 1 || e.NewN > 1 {
			s += ", noise " + rough(e.Noise)
		}
	case gate.MethodTest:
		return fmt.Sprintf("%s test, p %.2g, standard error of the difference %.3g", e.Test, finite(e.Q), finite(e.StdErr)) + findable(e)
	case gate.MethodFit:
		return fitted(e)
	case gate.MethodPairs:
		s = text.Plural(e.NewN, "pair") + sureness(e)
	case gate.MethodHistory:
		s = "against " + text.Plural(e.OldN, "run") + sureness(e)
	default:
		if e.Method == gate.MethodBound && e.StdErr > 0 { // of a fit
			return fmt.Sprintf("%s, p %.2g, standard error %.3g", text.Plural(e.NewN, "point"), finite(e.P), finite(e.StdErr))
		}
		return ""
	}
	if e.Again > 0 {
		s += ", measured again " + often(e.Again)
	}
	return s
}

// fitted is "8 pairs, p 0.004, standard error of the change 0.12, finds losses from 3 % on".
func fitted(e *gate.Evidence) string {
	s := text.Plural(e.NewN, "value")
	if e.InPairs {
		s = text.Plural(e.NewN, "pair")
	}
	s += fmt.Sprintf(", p %.2g", finite(e.P))
	if e.StdErr > 0 {
		s += fmt.Sprintf(", standard error of the change %.3g", finite(e.StdErr))
	}
	return s + findable(e)
}

// findable is ", finds losses from 3 % on"; "" where the values find no loss.
func findable(e *gate.Evidence) string {
	if !(e.MDE > 0) {
		return ""
	}
	return ", finds losses from " + rough(e.MDE) + " on"
}

// sureness is "p 0.002, noise 0.6 %, finds 1.9 %".
func sureness(e *gate.Evidence) string {
	s := fmt.Sprintf(", p %.2g", finite(e.P))
	if e.Q > 0 && e.Q != e.P {
		s += fmt.Sprintf(" (q %.2g)", finite(e.Q))
	}
	return s + ", noise " + rough(e.NoiseFloor) + findable(e)
}

func often(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// next returns how to see it again, and how to accept it.
func (r *Report) next() []block {
	if r.shown.action.total == 0 {
		return nil
	}
	var items bullets
	if slices.ContainsFunc(r.shown.action.rows, func(f finding) bool { return f.Finding != gate.OtherHost && !f.LeftOut() }) {
		items = append(items, r.reproduce())
	}
	single := func(f finding) bool { return lonely(*f.Verdict) && len(f.Cell) <= typable }
	if i := slices.IndexFunc(r.shown.action.rows, single); i >= 0 && !r.replayed() {
		items = append(items, r.again(r.shown.action.rows[i]))
	}
	items = append(append(items, r.overBudgets()...), r.accept()...)
	vanished := func(f finding) bool {
		return f.Finding == gate.Missing && (f.Metric == "" || f.Old != 0) && !f.LeftOut()
	}
	recorded := slices.ContainsFunc(r.hosts, func(h host) bool { return h.Reference != nil })
	if recorded && slices.ContainsFunc(r.shown.action.rows, vanished) {
		items = append(items, r.prune())
	}
	if slices.ContainsFunc(r.shown.action.rows, func(f finding) bool {
		return f.Metric == "" && (f.Finding == gate.Incorrect || f.Finding == gate.Crashed)
	}) {
		items = append(items, inline{
			plain("Wrong answers and crashes cannot be accepted into a baseline: fix them, or take the cell out of the configuration"),
		})
	}
	if slices.ContainsFunc(r.shown.action.rows, func(f finding) bool { return f.LeftOut() }) {
		items = append(items, inline{
			plain("Measure the cells that were left out (see above), or let them pass with policy.left_out: warn in the configuration"),
		})
	}
	if len(items) == 0 {
		return nil // the paragraph on the host has it
	}
	return []block{items}
}

// replayed reports a comparison that repeats add nothing to: msmodeling's
// simulator prints the same numbers each time.
func (r *Report) replayed() bool { return r.in.Policy.Compat.Rules().Totals.Judge != nil }

// addressed begins a command in a comment that is for this configuration among several.
func (r *Report) addressed() string {
	if r.in.Name == "" {
		return ""
	}
	return r.in.Name + ": "
}

// accepted are the arguments that accept a loss for a while, up to the largest that its
// interval holds.
func accepted(f finding) string {
	ceiling := min(math.Ceil(max(-f.Delta, -f.Interval[0], -f.Interval[1])), waiver.MaxCeiling)
	return fmt.Sprintf(`%s %s %g%% %d "why it is accepted"`, chatWord(f.Cell), chatWord(f.Metric), ceiling, acceptedDays)
}

// acceptedDays is for how many days the commands that are printed accept a loss.
const acceptedDays = 14

// chatWord is one word of a command in a comment.
func chatWord(s string) string {
	if strings.ContainsAny(s, " \t") {
		return `"` + strings.ReplaceAll(s, `"`, "'") + `"`
	}
	return s
}

// accept returns how to record numbers of cells that passed: in the host's
// baseline, and in the files of cases.
func (r *Report) accept() bullets {
	var items bullets
	ofBaseline := func(c gate.Finding) bool { return r.total.blocking[c] > r.total.ofCases[c] }
	lost := func(f finding) bool {
		return f.Finding == gate.Missing && f.Metric != "" && f.Old != 0 && !r.hosts[f.host].ofCase(f.Verdict)
	}
	byPairs := func(f finding) bool {
		return f.Finding == gate.Regressed && f.Evidence.InPairs && f.Cell != "" && len(f.Cell) <= typable
	}
	waivable := func(f finding) bool { return byPairs(f) && -f.Delta <= waiver.MaxCeiling }
	switch i := slices.IndexFunc(r.shown.action.rows, waivable); {
	case i < 0 && slices.ContainsFunc(r.shown.action.rows, byPairs):
		items = append(items, inline{plain(fmt.Sprintf("No waiver accepts a loss above %v %%: fix it", waiver.MaxCeiling))})
	case i >= 0:
		items = append(items, inline{
			plain(
				"What pairs with the base show is in no baseline. Accept it for a while in the file of waivers, or by a comment on the pull request: ",
			),
			command("/accelgate " + r.addressed() + "accept " + accepted(r.shown.action.rows[i])),
		})
	}
	inBaseline := func(f finding) bool {
		return ofBaseline(gate.Regressed) && f.Finding == gate.Regressed && !byPairs(f) ||
			ofBaseline(gate.Incorrect) && f.Finding == gate.Incorrect && f.Metric != "" || lost(f)
	}
	if i := slices.IndexFunc(r.shown.action.rows, inBaseline); i >= 0 {
		changed := r.shown.action.rows[i]
		h := &r.hosts[changed.host]
		items = append(items,
			r.on(changed, inline{plain("Accept changed numbers as the new baseline (records only the cells that passed): "),
				command(h.update("why they are accepted") + force)}))
	}
	gained := func(f finding) bool {
		return f.Finding == gate.Unrecorded && !r.hosts[f.host].ofCase(f.Verdict)
	}
	if i := slices.IndexFunc(r.shown.action.rows, gained); i >= 0 {
		forced := force
		if len(r.in.Decision.Blocking) == 1 {
			forced = ""
		}
		items = append(items, r.on(r.shown.action.rows[i], inline{plain("Update the baseline, so that the gain cannot be lost again: "),
			command(r.hosts[r.shown.action.rows[i].host].update("faster") + forced)}))
	}
	drifted := func(f finding) bool {
		return f.Finding == gate.Drifted && f.Reference == gate.AnchorReference && len(f.Cell) <= typable
	}
	if i := slices.IndexFunc(r.shown.action.rows, drifted); i >= 0 {
		items = append(items, r.anchor(r.shown.action.rows[i]))
	}
	for _, initial := range []bool{false, true} {
		of := func(f finding) bool {
			h := &r.hosts[f.host]
			return len(f.Cell) <= typable && f.Finding != gate.Missing && h.ofCase(f.Verdict) && h.initial[f.Cell] == initial &&
				!h.lostCalls(f.Cell)
		}
		if i := slices.IndexFunc(r.shown.action.rows, of); i >= 0 {
			items = append(items, r.refresh(r.shown.action.rows[i], initial))
		}
	}
	return items
}

// anchor returns how to accept what many small losses have added up to.
func (r *Report) anchor(f finding) inline {
	return r.on(f, inline{
		plain(
			"Drift is measured from a level that no refresh moves. See with accelgate history where it went, or accept the level of today, one cell at a time: ",
		),
		command(r.hosts[f.host].Commands.Anchor + " --only " + text.ShellQuote(f.Cell) + ` --reason "why it is accepted"`),
	})
}

// refresh returns how to accept the numbers of a cell into its case file, as the
// initial ones too where the distance from those is what blocks.
func (r *Report) refresh(f finding, initial bool) inline {
	why, flag := "Accept new numbers into the case file, one cell at a time: ", ""
	if initial {
		why = "Drift is measured from the initial time, which only --initial-times renews. Accept new numbers as the initial ones too, one cell at a time: "
		flag = " --initial-times"
	}
	return r.on(f, inline{plain(why),
		command(
			r.hosts[f.host].Commands.Refresh + flag + " --only " + text.ShellQuote(f.Cell) + ` --reason "why they are accepted"` + force,
		)})
}

// on adds the host of a finding to a line, where there are several.
func (r *Report) on(f finding, line inline) inline { return r.onHost(&r.hosts[f.host], line) }

// onHost adds the host to a line, where there are several.
func (r *Report) onHost(h *host, line inline) inline {
	if len(r.hosts) < 2 {
		return line
	}
	return append(line, plain(" on "), code(h.Run.Host.Label))
}

// again returns how to measure a regression that rests on one value.
func (r *Report) again(f finding) inline {
	return r.on(f, inline{
		plain(text.Plural(r.total.single, "slower cell") + " with a single measurement; measure again before you look for the cause: "),
		command(r.hosts[f.host].Commands.Cell + " --only " + text.ShellQuote(f.Cell) + " --repeats 5"),
	})
}

// typable is the longest id, in bytes, that is put into a command; a longer one
// is looked up in the JSON report.
const typable = 400

// reproduce takes the worst cell that still exists and can be typed.
func (r *Report) reproduce() inline {
	for _, f := range r.shown.action.rows {
		gone := f.Finding == gate.Missing && f.Metric == "" && !newlySkipped(f.Verdict)
		if f.Cell == "" || len(f.Cell) > typable || f.Finding == gate.OtherHost || gone || bench.IsListOfCells(f.Cell) {
			continue
		}
		h := &r.hosts[f.host]
		line := h.Commands.Cell + " --only " + text.ShellQuote(f.Cell)
		if h.Run.Base != "" {
			line += h.base()
		}
		return r.on(f, inline{plain("Reproduce the worst cell: "), command(line)})
	}
	f := r.shown.action.rows[0]
	return r.on(f, inline{plain("Reproduce: "), command(r.hosts[f.host].Commands.Run)})
}

// prune returns how to drop cells from the baseline of the first host that lacks some.
func (r *Report) prune() inline {
	gone := func(f finding) bool { return f.Finding == gate.Missing && !f.LeftOut() }
	f := r.shown.action.rows[max(0, slices.IndexFunc(r.shown.action.rows, gone))]
	return r.on(f, inline{plain("Drop cells that were removed on purpose from the baseline: "), command(r.hosts[f.host].Commands.Prune)})
}
