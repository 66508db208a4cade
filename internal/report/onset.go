package report

import (
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
)

// Onset holds the range of commits in which confirmed losses of a host began.
type Onset struct {
	Host      string // label
	Suspected string // commit of the run that was suspected first; "" where it is unknown
	Text      string // Markdown
}

// Onset returns the confirmed losses of each host that has some, in the order of the hosts.
func (r *Report) Onset() (all []Onset) {
	for i := range r.hosts {
		h := &r.hosts[i]
		if b := h.Comparison.SuspectRange; b != nil {
			var body strings.Builder
			for _, paragraph := range r.onsetOn(h) {
				paragraph.markdown(&body)
				body.WriteByte('\n')
			}
			all = append(all, Onset{Host: h.Run.Host.Label, Suspected: b.Suspected, Text: body.String()})
		}
	}
	return all
}

// onset names the commits between which confirmed losses began, and the command that finds
// the commit.
func (r *Report) onset() []block {
	return r.perHost("host with confirmed losses", "hosts with confirmed losses", r.onsetOn)
}

// onsetOn is onset for one host.
func (r *Report) onsetOn(h *host) []block {
	b := h.Comparison.SuspectRange
	if b == nil {
		return nil
	}
	line := inline{
		bold("Confirmed by the next run"),
		plain(": " + text.Plural(b.Numbers, "confirmed regression") + " began after "),
		r.orUnknown(b.After),
		plain(", by "),
		r.orUnknown(b.Suspected),
	}
	line = append(r.onHost(h, line), plain("; that run was suspected, and this run of "), r.orUnknown(b.Confirmed), plain(" shows it again"))
	blocks := []block{paragraph(line)}
	if commands := h.between(b); commands != nil {
		blocks = append(blocks, paragraph{plain("The commits in between, and the one that did it:")}, preformatted(commands))
	}
	return blocks
}

// between are the commands that list the commits of a range and search it; nil
// where a commit is unknown.
func (h *host) between(b *gate.SuspectRange) []string {
	if !typeable(b.After) || !typeable(b.Suspected) || b.After == b.Suspected {
		return nil
	}
	from, to := commit(b.After), commit(b.Suspected)
	lines := []string{visible("git log --oneline " + from + ".." + to)}
	for i := range h.Comparison.Verdicts {
		if v := &h.Comparison.Verdicts[i]; v.Confirmed && v.Blocks {
			bisect := fmt.Sprintf("%s --good %s --bad %s --only %s --metric %s", h.Commands.Bisect, from, to, text.ShellWord(v.Cell),
				text.ShellWord(v.Metric))
			return append(lines, visible(bisect))
		}
	}
	return lines
}

// typeable reports whether a commit may stand in a command: one that comes from a
// run could be a flag.
func typeable(revision string) bool {
	return revision != "" && !strings.HasPrefix(revision, "-") && !strings.ContainsFunc(revision, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '.' || r == '_' || r == '-')
	})
}
