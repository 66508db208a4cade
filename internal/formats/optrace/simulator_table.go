package optrace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/accelgate/accelgate/internal/bench"
)

// simulatorLines are the lines beside the table, by what stands before their
// colon. "%" stands for the performance model.
var simulatorLines = map[string]struct{ metric, unit string }{
	"Model compilation and execution time": {"run_time_s", "s"},
	"[%] Execution time":                   {"execution_time_s", "s"},
	"[%] TPS/Device":                       {"tps", "token/s"},
	"Total device memory":                  {"memory_total_device_gb", "GB"},
	"Model weight size":                    {"memory_model_weight_gb", "GB"},
	"KV cache":                             {"memory_kv_cache_gb", "GB"},
	"Model activation size":                {"memory_model_activation_gb", "GB"},
	"Reserved memory":                      {"memory_reserved_gb", "GB"},
	"Memory available":                     {"memory_available_gb", "GB"},
}

const totalLine = "Total time for "

// simulatorTable reads what msmodeling prints: the table of operators, the total
// below it, and the lines of memory and speed around it.
//
// As in msmodeling's own checker, the first table counts, of the model analytic
// where it is in it, else of the table's first, by which it is sorted. Totals of
// one model that differ wrap [bench.ErrContradiction], and so does a total that
// is smaller than the rows together. A time has three decimals of its unit. Rows stay as they are, in
// their order and those of one name apart, which there are with input shapes and
// bounds: the checker takes them for different operators.
func simulatorTable(data []byte) (*Profile, error) { return simulatorTableOf(data, "") }

// simulatorTableOf reads the table and the total of one performance model; "" is as
// [simulatorTable] chooses.
func simulatorTableOf(data []byte, model string) (*Profile, error) {
	if bytes.Contains(data, []byte("\n[pipeline stage 1 ")) {
		return nil, errors.New("the output has a table for each stage of a pipeline and no total over them: " +
			"read the file of ModelRunnerMetrics.dump_json (msmodeling-metrics)")
	}
	r := simulatorRows{wanted: model}
	t := table{accepts: r.accepts, row: r.row, footer: []byte(totalLine), outside: r.outside}
	found, err := t.read(data)
	if err != nil {
		return nil, err
	}
	if !found {
		if r.model = totalModel(data); r.model != "" {
			r.model = cmp.Or(model, r.model)
		}
	}
	total, err := simulatorTotal(data, r.model)
	if err != nil {
		return nil, err
	}
	p := &Profile{Total: total}
	for _, v := range r.values {
		if v.model == "" || v.model == r.model {
			p.Values = append(p.Values, v.Value)
		}
	}
	p.Values = values(p.Values)
	p.Operators = r.operators.entries
	return p.checked(printedRounding(len(p.Operators)))
}

// simulatorRows collects what a table and the lines around it hold.
type simulatorRows struct {
	operators          operators
	wanted             string // the only model that is read; "" for analytic, or else the first
	model              string
	name, total, calls int // columns
	values             []modelValue
}

type modelValue struct {
	model string
	Value
}

func (r *simulatorRows) accepts(g *grid) bool {
	r.model = ""
	for _, name := range g.names {
		model, ok := strings.CutSuffix(name, " total")
		if ok && g.column(model+" avg") >= 0 && (r.wanted == "" || model == r.wanted) && (r.model == "" || model == analytic) {
			r.model = model
		}
	}
	r.name, r.total, r.calls = g.column("Name"), g.column(r.model+" total"), g.column("# of Calls")
	return r.model != "" && r.name >= 0 && r.calls >= 0
}

func (r *simulatorRows) row(cells [][]byte) error {
	name := cells[r.name]
	seconds, err1 := printedTime(cells[r.total])
	calls, err2 := count(cells[r.calls])
	if err := cmp.Or(err1, err2); err != nil {
		return fmt.Errorf("operator %s: %w: see what went wrong with it, or what else was printed into the table", quote(name), err)
	}
	return r.operators.row(name, seconds, calls)
}

// outside takes "label: number unit". What has another unit is something else.
func (r *simulatorRows) outside(line []byte) error {
	label, text, ok := bytes.Cut(line, []byte(": "))
	if !ok || len(r.values) > 1000 {
		return nil
	}
	label, text = bytes.TrimSpace(label), bytes.TrimSpace(text)
	model, printed := "", label
	if end := bytes.IndexByte(label, ']'); end > 0 && label[0] == '[' {
		model = string(label[1:end])
		label = append([]byte("[%"), label[end:]...)
	}
	what, ok := simulatorLines[string(label)]
	number, isUnit := bytes.CutSuffix(text, []byte(what.unit))
	if !ok || !isUnit {
		return nil
	}
	v, err := decimal(bytes.TrimSpace(number))
	if err = cmp.Or(err, inMetricRange(what.metric, v)); err != nil {
		return fmt.Errorf("%s: %w: see in the simulator's log what went wrong with it", quote(printed), err)
	}
	r.values = append(r.values, modelValue{model, Value{what.metric, v}})
	return nil
}

// totalModel returns the model of the totals where there is no table: analytic
// if it is among them, else the first.
func totalModel(text []byte) string {
	if bytes.Contains(text, []byte(totalLine+analytic+":")) {
		return analytic
	}
	_, rest, _ := bytes.Cut(text, []byte(totalLine))
	if model, _, ok := bytes.Cut(rest[:min(len(rest), 100)], []byte(":")); ok && bytes.IndexByte(model, '\n') < 0 {
		return string(model)
	}
	return ""
}

// simulatorTotal returns the total of a model: wherever it stands on its line,
// with any space before the number and before the unit.
func simulatorTotal(text []byte, model string) (float64, error) {
	if model == "" {
		return 0, fmt.Errorf("the output %w: it has neither msmodeling's table nor its total; see in its log why the simulator ended early",
			ErrNone)
	}
	shown := quote([]byte(model))
	shown = shown[1 : len(shown)-1]
	var bad []byte
	total, step, found := 0.0, 0.0, false // step is that of the total's last digit
	for rest := text; ; {
		_, after, ok := bytes.Cut(rest, []byte(totalLine+model+":"))
		if !ok {
			break
		}
		rest = after
		if digits, scale := leadingTime(after); scale > 0 {
			v, err := decimal(digits)
			if err = cmp.Or(err, inRange(v*scale)); err != nil {
				return 0, fmt.Errorf("the total for %s: %w: see in the simulator's log what went wrong", shown, err)
			}
			digit := lastDigit(digits) * scale
			if v *= scale; found && math.Abs(v-total) > max(step, digit)/2 {
				return 0, fmt.Errorf("%w: it has two totals for %s, %g s and %g s; run one simulation in each case", bench.ErrContradiction,
					shown, total, v)
			}
			if !found {
				total, step, found = v, digit, true
			}
			continue
		}
		if bad == nil {
			bad, _, _ = bytes.Cut(after, []byte("\n"))
		}
	}
	if found {
		return total, nil
	}
	if bad != nil {
		return 0, fmt.Errorf("the total for %s is %s, which is not a time in ns, us, ms or s: see in the simulator's log what went wrong",
			shown, quote(bytes.TrimSpace(bad)))
	}
	return 0, fmt.Errorf("no total: Could not find 'Total time for %s' in output: see in the simulator's log why it ended early", shown)
}

// leadingTime takes digits, a unit, and any space before each of them.
func leadingTime(text []byte) (digits []byte, scale float64) {
	text = bytes.TrimLeftFunc(text, unicode.IsSpace)
	n := len(text) - len(bytes.TrimLeft(text, "0123456789."))
	if n == 0 {
		return nil, 0
	}
	digits, text = text[:n], bytes.TrimLeftFunc(text[n:], unicode.IsSpace)
	for _, unit := range []string{"ns", "us", "\u00b5s", "\u03bcs", "ms", "s"} {
		if bytes.HasPrefix(text, []byte(unit)) {
			_, scale = cutUnit([]byte(unit))
			return digits, scale
		}
	}
	return nil, 0
}
