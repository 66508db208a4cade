package report

import (
	"slices"
)

// suspect is a speed that blocks, or a loss that is undecided, with the values on both sides.
type suspect struct {
	head inline
	rows []dots
	unit string
}

// suspects are the first speeds that block, and then the losses that are undecided;
// more reports whether some are left out.
func (r *Report) suspects() (list []suspect, more bool) {
	const maximum = 5
	for _, f := range slices.Concat(r.shown.action.rows, r.shown.undecided.rows) {
		if !ofSpeed(f.Verdict) || !f.Blocks && !f.UndecidedLoss() || f.Cell == "" || f.alike != nil {
			continue
		}
		if len(list) == maximum {
			return list, true
		}
		h := &r.hosts[f.host]
		x := Explained{of: f.host, result: h.results[f.Cell], old: h.olds[f.Cell]}
		x.add(&r.in.Policy, h, f.Verdict)
		head := append(r.on(f, only(code(f.Cell))), plain(": "), code(f.Metric), plain(" "))
		list = append(list, suspect{append(head, r.change(f)...), x.Verdicts[0].rows(), r.unit(f)})
	}
	return list, false
}

// suspects draws the values of each suspect on a scale of its own.
func (p *printer) suspects(r *Report) {
	list, more := r.suspects()
	if len(list) == 0 {
		return
	}
	p.line("")
	p.line("== Values of suspects, the worst first")
	for _, s := range list {
		p.line(s.head.String())
		p.strip(s.rows, s.unit)
	}
	if more {
		p.line("... and more: accelgate explain CELL")
	}
}
