package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// Refresh is what a pull request that renews baselines and other files shows.
type Refresh struct {
	Tool     string // "accelgate v0.1.0"
	Reason   string // why, as the person who asked for it typed it
	Revision string // commit that was measured
	Links    Links
	Hosts    []HostChanges
	Files    []FileChanges
	Left     []string // what was not refreshed and why, a sentence each
	Also     []string // other files that the pull request changes
	Limit    int      // bytes of the body; 0 means MarkdownBytes, less than 1000 means 1000
}

// HostChanges are the changes to one baseline file.
type HostChanges struct {
	Host    string
	Path    string
	Before  *bench.Fingerprint // nil where the file is new
	After   bench.Fingerprint
	Changes []Change
	Still   int    // numbers that stay because they moved within their noise
	Earlier string // commit of an earlier run that proposed them; "" for this run
}

// Change is one number of a baseline before and after.
type Change struct {
	Cell, Metric, Unit string
	Better             bench.Direction
	Old, New           float64
	HasOld             bool    // false for a number the baseline did not have
	Noise              float64 // of Old to New, three standard errors, in the unit; 0 if unknown
	OldN, NewN         int     // values that they rest on
}

// gain is the change in percent; ok is false without an old number, or where it is 0.
func (c *Change) gain() (pct float64, ok bool) {
	if !c.HasOld {
		return 0, false
	}
	return c.Better.Gain(c.Old, c.New)
}

// Changes returns title and Markdown body of the pull request. Rows are sorted
// by size of the change, and new numbers come last.
func Changes(r Refresh) (title, body string) {
	r.Limit = cmp.Or(r.Limit, MarkdownBytes)
	limit := max(r.Limit, minimum)
	for _, maximum := range []struct{ rows, files int }{{50, 50}, {15, 50}, {5, 20}, {0, 5}} {
		if body = r.body(maximum.rows, maximum.files); len(body) <= limit {
			return r.title(), body
		}
	}
	return r.title(), fmt.Sprintf("### %s\n\n%s\n", r.summary(), omitted([]string{"everything but the sum"}))
}

// title is plain text: GitHub reads no Markdown in a title, but does link.
func (r *Refresh) title() string {
	var what []string
	if len(r.Hosts) > 0 || len(r.Files) == 0 {
		what = append(what, r.baselines())
	}
	if len(r.Files) > 0 {
		what = append(what, text.Plural(r.ownFiles(), r.Files[0].Noun))
	}
	return "Refresh " + enumerate(what)
}

func (r *Refresh) baselines() string {
	if len(r.Hosts) != 1 {
		return "the baselines of " + text.Plural(len(r.Hosts), "host")
	}
	const longest = 60
	host := clip(r.Hosts[0].Host, longest)
	return "the baseline of " + strings.NewReplacer("@", "@\u200b", "#", "#\u200b").Replace(host)
}

func (r *Refresh) summary() string {
	renewed, added := 0, 0
	for i := range r.Hosts {
		for k := range r.Hosts[i].Changes {
			if r.Hosts[i].Changes[k].HasOld {
				renewed++
			} else {
				added++
			}
		}
	}
	var what []string
	if len(r.Hosts) > 0 || len(r.Files) == 0 {
		what = append(what,
			fmt.Sprintf("%s renewed and %d new, on %s", text.Plural(renewed, "number"), added, text.Plural(len(r.Hosts), "host")))
	}
	if len(r.Files) > 0 {
		what = append(what, text.Plural(r.ownNumbers(), "number")+" of "+text.Plural(r.ownFiles(), r.Files[0].Noun)+" renewed")
	}
	return strings.Join(what, "; ")
}

func (r *Refresh) body(rows, files int) string {
	why := reason(r.Reason)
	if strings.TrimSpace(r.Reason) == "" {
		why = plain("none given")
	}
	line := inline{plain("Measured at "), code(commit(r.Revision))}
	if r.Links.Run != "" {
		line = append(line, plain(" · "), link("workflow run", r.Links.Run))
	}
	blocks := []block{
		paragraph{bold("Reason:"), plain(" "), why},
		paragraph(line),
		paragraph{plain("Once merged, pull requests are judged against these numbers.")},
	}
	for i := range r.Hosts[:min(maxHosts, len(r.Hosts))] {
		blocks = append(blocks, r.Hosts[i].blocks(rows)...)
	}
	if more := len(r.Hosts) - maxHosts; more > 0 {
		blocks = append(blocks, paragraph{plain("… and " + text.Plural(more, "more host"))})
	}
	blocks = append(blocks, r.fileBlocks(files, rows)...)
	blocks = append(blocks, r.leftBlocks(files)...)
	blocks = append(blocks, r.alsoBlocks(files)...)
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", r.summary())
	for _, block := range blocks {
		block.markdown(&b)
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "<sub>%s</sub>\n", escapeText(name(r.Tool)))
	return b.String()
}

// alsoBlocks names the files of which no numbers are shown.
func (r *Refresh) alsoBlocks(maximum int) []block {
	if len(r.Also) == 0 {
		return nil
	}
	var list bullets
	for _, path := range r.Also[:min(maximum, len(r.Also))] {
		list = append(list, inline{code(path)})
	}
	if more := len(r.Also) - len(list); more > 0 {
		list = append(list, inline{plain("… and " + text.Plural(more, "more file"))})
	}
	return []block{paragraph{bold("Also changed"), plain(", by earlier runs that share this pull request:")}, list}
}

func (h *HostChanges) blocks(rows int) []block {
	head := inline{bold("Host"), plain(" "), code(h.Host), plain(", "), code(h.After.Device()), plain(", "), code(h.Path)}
	if h.Before == nil {
		head = append(head, plain(" (a new file)"))
	}
	if h.Earlier != "" {
		head = append(head, plain(", proposed by an earlier run in "), code(commit(h.Earlier)))
	}
	head = append(head, plain(": "+text.Plural(len(h.Changes), "number")))
	blocks := []block{paragraph(head)}
	if moved := h.moved(); moved != nil {
		blocks = append(blocks, paragraph{plain("Changes of the host:")}, moved)
	}
	if len(h.Changes) > 0 {
		blocks = append(blocks, h.table(rows))
	}
	if h.Still > 0 {
		blocks = append(blocks, paragraph{plain(text.Plural(h.Still, "number") + " moved within the noise and stay as they were.")})
	}
	return blocks
}

// moved compares the machines, and is nil where they are the same.
func (h *HostChanges) moved() block {
	if h.Before == nil {
		return nil
	}
	t := &table{columns: columns("Fact", "Before", "Now")}
	before := machine(*h.Before)
	for i, now := range machine(h.After) {
		if now != before[i] {
			t.rows = append(t.rows, []inline{only(plain(now.name)), only(code(before[i].value)), only(code(now.value))})
		}
	}
	if t.total = len(t.rows); t.total == 0 {
		return nil
	}
	return t
}

func (h *HostChanges) table(rows int) block {
	order := make([]*Change, len(h.Changes))
	for i := range order {
		order[i] = &h.Changes[i]
	}
	size := func(c *Change) float64 {
		pct, ok := c.gain()
		if !ok || math.IsNaN(pct) {
			return -1
		}
		return math.Abs(pct)
	}
	slices.SortStableFunc(order, func(a, b *Change) int {
		return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Metric, b.Metric))
	})
	t := &table{total: len(order), columns: columns("Cell", "Metric", "Old → new>", "Change>", "Noise>", "n>")}
	for _, c := range order[:min(rows, len(order))] {
		t.rows = append(t.rows, c.row())
	}
	return t
}

func (c *Change) row() []inline {
	old, change := "none", "new"
	if c.HasOld {
		old, change = number(c.Old), "–"
	}
	if pct, ok := c.gain(); ok {
		change = inWords(c.Better.Change(pct), 0, c.Better)
	}
	values := inline{plain(old + " → " + number(c.New))}
	if c.Unit != "" {
		values = append(values, reason(" "+c.Unit))
	}
	return []inline{
		only(code(c.Cell)),
		only(code(c.Metric)),
		values,
		only(plain(change)),
		only(plain(c.noise())),
		only(plain(c.evidence())),
	}
}

// noise is by how much the change varies, in percent of the old number.
func (c *Change) noise() string {
	if c.Noise == 0 || c.Old == 0 {
		return "unknown"
	}
	return "± " + rough(100*c.Noise/math.Abs(c.Old))
}

func (c *Change) evidence() string {
	if !c.HasOld {
		return strconv.Itoa(c.NewN)
	}
	return fmt.Sprintf("%d → %d", c.OldN, c.NewN)
}
