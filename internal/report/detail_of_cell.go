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

// outputs shows what the worst failing cells answered and printed.
func (r *Report) outputs() (blocks []block, n int) {
	const maximum = 5
	for _, f := range r.shown.action.rows {
		result := r.hosts[f.host].results[f.Cell]
		if n == maximum {
			break
		}
		if result == nil || f.Metric != "" || f.Finding != gate.Incorrect && f.Finding != gate.Crashed {
			continue
		}
		n++
		head := r.on(f, inline{code(f.Cell)})
		if f.Device != "" {
			head = append(head, plain(", device "), code(f.Device))
		}
		of := ""
		if f.cause != nil {
			of = fmt.Sprintf(", 1 of %d alike", f.cause.n)
		}
		blocks = append(blocks, paragraph(append(head, plain(" ("+f.word()+of+"): "), reason(f.because()))))
		blocks = append(blocks, quoted("Answer", "it goes on", result.Output, false)...)
		blocks = append(blocks, quoted("Log", "its end", result.Log, true)...)
		if line := r.hosts[f.host].Commands.child(result); line != "" {
			blocks = append(blocks, paragraph{plain("Command: "), command(line)})
		}
	}
	return blocks, n
}

func quoted(what, ifCut, s string, tail bool) []block {
	lines, cut := excerpt(s, tail)
	if len(lines) == 0 {
		return nil
	}
	if cut {
		what += " (" + ifCut + ")"
	}
	return []block{paragraph{plain(what + ":")}, preformatted(lines)}
}

const nameBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

// child is the command of a cell with its environment, for a shell in the folder
// that accelgate was started in; "" where there is no command, or it is too long.
func (c *Commands) child(result *bench.Result) string {
	const longest = 1000 // bytes; longer ones are in run.json
	if len(result.Command) == 0 {
		return ""
	}
	var words []string
	if c.Dir != "" && c.Dir != "." {
		words = append(words, "cd "+text.ShellWord(c.Dir)+" &&")
	}
	for _, entry := range result.Env {
		name, value, _ := strings.Cut(entry, "=")
		if strings.Trim(name, nameBytes) != "" || name == "" {
			return "" // no shell sets it
		}
		words = append(words, name+"="+text.ShellWord(value))
	}
	for _, a := range result.Command {
		words = append(words, text.ShellWord(a))
	}
	line := strings.Join(words, " ")
	if len(line) > longest {
		return ""
	}
	return line
}

func sameTitle(result *bench.Result, title string) *bench.Breakdown {
	if result == nil {
		return nil
	}
	for i := range result.Breakdowns {
		if result.Breakdowns[i].Title == title {
			return &result.Breakdowns[i]
		}
	}
	return nil
}

// operatorTable shows the five parts that grew most or, without a baseline's
// breakdown, the five largest.
func operatorTable(now, old *bench.Breakdown) *table {
	const maximum = 5
	before := map[string]bench.Entry{}
	if old != nil {
		for _, e := range old.Entries {
			before[e.Name] = e
		}
	}
	growth := func(e bench.Entry) float64 { return e.Total - before[e.Name].Total }
	entries := slices.Clone(now.Entries)
	slices.SortStableFunc(entries, func(a, b bench.Entry) int { return cmp.Compare(growth(b), growth(a)) })
	t := &table{total: len(entries), columns: columns("Operator", "Baseline>", "Now>", "Change>", "Calls>")}
	for _, e := range entries[:min(maximum, len(entries))] {
		baseline, change := none, none
		if was, ok := before[e.Name]; ok {
			baseline = inline{plain(number(was.Total) + " "), reason(now.Unit)}
			change = inline{plain(signed(growth(e)) + " "), reason(now.Unit)}
		}
		t.rows = append(t.rows, []inline{only(code(e.Name)), baseline,
			{plain(number(e.Total) + " "), reason(now.Unit)}, change, only(plain(fmt.Sprint(e.Calls)))})
	}
	return t
}

func signed(x float64) string {
	if x > 0 {
		return "+" + number(x)
	}
	return number(x)
}
