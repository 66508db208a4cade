package report

import (
	"strings"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
)

// quarantined returns which entries of the quarantine have expired, and which name no cell.
func (r *Report) quarantined() []block {
	var blocks []block
	for _, of := range []struct {
		state gate.QuarantineState
		lead  string
		end   string
	}{
		{gate.QuarantineExpired, "Quarantine ended", ": fix the cells, write a new day, or remove the entries"},
		{gate.QuarantineUnknown, "Quarantine of unknown cells", ": correct the ids in the file, or remove the entries"},
	} {
		var line inline
		n := 0
		for _, u := range r.in.Decision.Quarantine {
			if u.State != of.state {
				continue
			}
			if n++; n > maxCautions {
				continue
			}
			if n > 1 {
				line = append(line, plain(", "))
			}
			line = append(line, code(u.Cell), plain(" ("), reason(u.Owner), plain(", until "+u.Expires.String()+")"))
		}
		if n == 0 {
			continue
		}
		line = append(inline{bold(of.lead), plain(": ")}, line...)
		if n > maxCautions {
			line = append(line, plain(", and "+text.Plural(n-maxCautions, "more cell")))
		}
		blocks = append(blocks, paragraph(append(line, plain(of.end))))
	}
	return blocks
}

// quarantine lists all quarantined cells with what became of them.
func (r *Report) quarantine(maximum int) (block, int) {
	all := r.in.Decision.Quarantine
	t := &table{total: len(all), columns: columns("Cell", "Host~", "Owner", "Until", "State", "Reason~")}
	for i := range all[:min(maximum, len(all))] {
		u := &all[i]
		why := only(reason(u.Reason))
		if strings.TrimSpace(u.Issue) != "" {
			why = append(why, plain("; "), reason(u.Issue))
		}
		t.rows = append(t.rows, []inline{only(code(u.Cell)), hostOf(u.Host), only(reason(u.Owner)), until(u.Expires, u.DaysLeft),
			only(plain(string(u.State))), why})
	}
	return t, len(all)
}
