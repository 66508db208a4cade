package report

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// cellPage is what the page shows of one cell: its verdicts, the first of which stands for it.
type cellPage struct {
	host     *host
	at       int // of the host
	verdicts []finding
	now, old *bench.Result // nil where that side lacks the cell
}

// Bytes of a page after which a cell has one line, and after which cells are only counted.
const (
	wholeCells = 900_000
	lineCells  = 2_900_000
)

// cells writes the cells of all hosts, the worst first, as a list of folds with a form to
// filter and to sort.
func (h htmlWriter) cells(r *Report, files *Files) error {
	all := cellPages(r)
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b cellPage) int { return gate.Worse(a.verdicts[0].Verdict, b.verdicts[0].Verdict) })
	keys := facets(r)
	h.WriteString("<h2 id=\"cells\">" + text.Plural(len(all), "cell") + "</h2>\n")
	h.form(all, keys, len(r.hosts) > 1)
	h.WriteString(`<div id="list">` + "\n")
	shown, whole := 0, 0
	for i, c := range all {
		if h.size() > lineCells {
			break
		}
		shown++
		fits := h.size() <= wholeCells
		whole += stats.Indicator(fits)
		h.cell(r, i, c, keys, fits)
	}
	h.WriteString("</div>\n")
	switch {
	case whole == len(all):
	case files != nil:
		h.more(r, files, len(all), whole, shown)
		return files.write(r.id(), cellsFiles(r, all, keys, whole, shown))
	default:
		h.block(
			paragraph{plain(fmt.Sprintf("%s shown whole, %d in one line and %d not at all, because none of these is worse. All of one: ",
				text.Plural(whole, "cell"), shown-whole, len(all)-shown)), command("accelgate explain CELL"), plain("; all of all: "),
				command("accelgate report --format html --out report.html RUN")},
		)
	}
	return nil
}

// cellPages groups the verdicts of cells, which are adjacent, and joins both sides' results.
func cellPages(r *Report) (all []cellPage) {
	for i := range r.hosts {
		h := &r.hosts[i]
		now, old := h.Run.ByID(), h.Reference.ByID()
		verdicts := h.Comparison.Verdicts
		for k := 0; k < len(verdicts); {
			end := k + 1
			for end < len(verdicts) && verdicts[end].Cell == verdicts[k].Cell {
				end++
			}
			if id := verdicts[k].Cell; id != "" {
				c := cellPage{host: h, at: i, now: now[id], old: old[id]}
				for v := k; v < end; v++ {
					c.verdicts = append(c.verdicts, finding{host: i, Verdict: &verdicts[v], line: h.crashLine(&verdicts[v])})
				}
				slices.SortStableFunc(c.verdicts, bySeverity)
				all = append(all, c)
			}
			k = end
		}
	}
	return all
}

// form is shown by the script, which it needs.
func (h htmlWriter) form(all []cellPage, keys []string, hosts bool) {
	h.WriteString(
		`<form id="filter" hidden><label>Search <input type="search" name="q" placeholder="cell, verdict or metric"></label>` + "\n",
	)
	words := map[string]bool{}
	labels := map[string]bool{}
	values := map[string]map[string]bool{}
	for _, c := range all {
		words[c.verdicts[0].word()] = true
		labels[c.host.Run.Host.Label] = true
		for _, p := range c.params() {
			if values[p.Key] == nil {
				values[p.Key] = map[string]bool{}
			}
			values[p.Key][p.Value] = true
		}
	}
	h.choice("Finding", "class", words)
	if hosts {
		h.choice("Host", "host", labels)
	}
	for i, key := range keys {
		h.choice(strings.TrimPrefix(key, bench.EnvPrefix), "p"+strconv.Itoa(i), values[key])
	}
	h.WriteString(`<label>Sort <select name="sort"><option value="i">worst first</option>` +
		`<option value="loss">largest loss</option><option value="gain">largest gain</option>` +
		`<option value="noise">largest noise</option><option value="t">name</option></select></label> <output aria-live="polite"></output></form>` + "\n")
}

func (h htmlWriter) choice(label, field string, values map[string]bool) {
	fmt.Fprintf(h, `<label>%s <select name="%s"><option value="">all</option>`, escapeHTML(label), field)
	sorted := make([]string, 0, len(values))
	for v := range values {
		sorted = append(sorted, v)
	}
	slices.Sort(sorted)
	for _, v := range sorted {
		fmt.Fprintf(h, `<option>%s</option>`, escapeHTML(name(v)))
	}
	h.WriteString("</select></label>\n")
}

func (c *cellPage) params() []bench.Param {
	if c.now != nil {
		return c.now.Cell.Params
	}
	return nil
}

// cellData is what the script filters and sorts by.
type cellData struct {
	Word   string   `json:"c"`
	Change float64  `json:"d"`
	Host   string   `json:"h"`
	Noise  float64  `json:"n"`
	Facets []string `json:"p"`
}

func (c *cellPage) data(keys []string) cellData {
	first := c.verdicts[0]
	delta, noise := 0.0, 0.0
	for _, v := range c.verdicts {
		if ofSpeed(v.Verdict) && math.Abs(finite(v.Delta)) > math.Abs(delta) {
			delta = finite(v.Delta)
		}
		noise = max(noise, finite(v.Evidence.NoiseFloor), finite(v.Evidence.Noise))
	}
	thousandths := func(x float64) float64 { return math.Round(x*1000) / 1000 }
	facets := make([]string, len(keys))
	for i, key := range keys {
		for _, p := range c.params() {
			if p.Key == key {
				facets[i] = name(p.Value)
			}
		}
	}
	return cellData{first.word(), thousandths(delta), name(c.host.Run.Host.Label), thousandths(noise), facets}
}

// marks are the words for what stands out, by [gate.Verdict.Standing].
var marks = []string{failed.mark, undecided.mark, warned.mark, ""}

// cell writes a cell as a fold; without more than its line if it is not to be whole.
func (h htmlWriter) cell(r *Report, i int, c cellPage, keys []string, whole bool) {
	first := c.verdicts[0]
	data, _ := json.Marshal(c.data(keys)) // no value of it fails
	fmt.Fprintf(h, `<details class="cell" id="c%d" data-v="%s"><summary>`, i, escapeHTML(string(data)))
	if mark := marks[first.Standing()]; mark != "" {
		h.mark(mark)
	}
	fmt.Fprintf(h, ` <code>%s</code> <span class="class">%s</span> <span class="change">`, escapeHTML(name(first.Cell)),
		escapeHTML(first.word()))
	if change := c.change(r); change != nil {
		h.inline(change)
	}
	h.WriteString("</span></summary>\n")
	if whole {
		h.body(r, &c, true)
	}
	h.WriteString("</details>\n")
}

// body is what stands below the line of a cell.
func (h htmlWriter) body(r *Report, c *cellPage, charts bool) {
	if len(r.hosts) > 1 {
		h.WriteString("<p>on <code>" + escapeHTML(name(c.host.Run.Host.Label)) + "</code></p>")
	}
	h.table(c.table(r))
	if charts {
		h.charts(r, c)
	}
	h.facts(c)
}

// change returns the change of the first verdict on a speed.
func (c *cellPage) change(r *Report) inline {
	for _, v := range c.verdicts {
		if ofSpeed(v.Verdict) {
			size, _ := r.changed(v)
			return append(append(metricName(v), plain(" "+size+", ")), r.values(v)...)
		}
	}
	return nil
}

func (c *cellPage) table(r *Report) *table {
	t := &table{columns: columns("Metric", "Verdict", "Baseline → now>", "Change>", "Limit>", "Evidence")}
	for _, v := range c.verdicts {
		change := none
		if ofSpeed(v.Verdict) || v.hasChange() {
			size, more := r.changed(v)
			change = inline{bold(size), plain(more)}
		}
		t.rows = append(t.rows, []inline{metricName(v), only(plain(v.word())), r.values(v), change, limitsIn(v.Verdict), r.why(v)})
	}
	t.total = len(t.rows)
	return t
}

// facts are health, command, answer and log.
func (h htmlWriter) facts(c *cellPage) {
	if c.now == nil {
		return
	}
	if s := c.now.Health; s != nil && s.Status == bench.Unhealthy && len(s.Reasons) > 0 {
		h.block(paragraph{plain("Unhealthy host: "), reason(s.Reasons[0])})
	}
	if line := used(c.now); line != nil {
		h.block(paragraph(append(inline{plain("Used, median: ")}, line...)))
	}
	if line := c.host.Commands.child(c.now); line != "" {
		h.block(paragraph{plain("Command: "), command(line)})
	}
	h.blocks(quoted("Answer", "it goes on", c.now.Output, false))
	h.blocks(quoted("Log", "its end", c.now.Log, true))
}
