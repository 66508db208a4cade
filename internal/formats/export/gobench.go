package export

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// GoBench writes Go's benchmark format, https://go.dev/design/14313-benchmark-format, which
// benchstat compares: a line for each value, because a value is one process and so an
// independent sample.
//
// A cell is BenchmarkCell with its parameters as /key=value, which benchstat's -row and
// -col take; a benchmark of Go has its own name. In a cell that was measured in pairs the
// base is /side=base and the head /side=head. Characters that would split a name are %XX.
func GoBench(w io.Writer, run *bench.Run) error {
	g := goWriter{Writer: bufio.NewWriter(w), units: map[string]bool{}}
	g.config("goos", run.Host.OS)
	g.config("goarch", run.Host.Arch)
	g.config("cpu", run.Host.CPU)
	suite, any := "", false
	for n := range numbers(run) {
		if s := n.result.Cell.Suite; !any || s != suite {
			suite, any = s, true
			fmt.Fprintf(g, "pkg: %s\n", text.Clean(s))
		}
		g.number(&n)
	}
	if !any {
		return ErrNothing
	}
	return g.Flush()
}

type goWriter struct {
	*bufio.Writer
	units map[string]bool // that have been described
}

func (g *goWriter) config(key, value string) {
	if value != "" {
		fmt.Fprintf(g, "%s: %s\n", key, text.Clean(value))
	}
}

func (g *goWriter) number(n *number) {
	unit, factor := goUnit(n.metric)
	if !g.units[unit] && factor == 0 {
		g.units[unit] = true
		fmt.Fprintf(g, "Unit %s better=%s\n", unit, n.metric.Better)
	}
	factor = cmp.Or(factor, 1)
	name := procless(goName(&n.result.Cell))
	if !slices.ContainsFunc(n.result.Samples, func(s bench.Sample) bool { return len(s.Base) > 0 }) {
		g.values(name, n.values, factor, unit)
		return
	}
	g.values(name+"/side=base", n.sample.Base, factor, unit)
	g.values(name+"/side=head", n.values, factor, unit)
}

func (g *goWriter) values(name string, values []float64, factor float64, unit string) {
	for _, v := range values {
		fmt.Fprintf(g, "%s 1 %s %s\n", name, format(v*factor), unit)
	}
}

// goUnits are the metrics that package testing has a unit for, and the factor to it.
var goUnits = map[bench.Metric]struct {
	unit   string
	factor float64
}{
	{Name: "time_ns", Unit: "ns"}:      {"ns/op", 1},
	{Name: "bytes_per_s", Unit: "B/s"}: {"MB/s", 1e-6},
	{Name: "alloc_bytes", Unit: "B"}:   {"B/op", 1},
	{Name: "allocs"}:                   {"allocs/op", 1},
}

// goUnit is the metric with its unit, such as decode_tps-tok/s: the units of a benchmark
// are its metrics. The factor is 0 where package testing does not define the unit.
func goUnit(m *bench.Metric) (unit string, factor float64) {
	if known, ok := goUnits[bench.Metric{Name: m.Name, Unit: m.Unit}]; ok {
		return known.unit, known.factor
	}
	unit = cmp.Or(goWord(m.Name, ""), "%")
	if m.Unit != "" && !strings.HasSuffix(m.Name, "_"+m.Unit) {
		unit += "-" + goWord(m.Unit, "")
	}
	return unit, 0
}

// longestName keeps lines within what readers take, 64 KiB.
const longestName = 16 << 10

func goName(c *bench.Cell) string {
	if len(c.Params) == 1 && c.Raw == "" && goBenchmark.MatchString(c.Params[0].Value) {
		return goWord(c.Params[0].Value, "")
	}
	name := "BenchmarkCell"
	for _, p := range c.Params {
		name += "/" + goWord(p.Key, "/=") + "=" + goWord(p.Value, "/")
	}
	if c.Raw != "" || len(name) > longestName {
		return "BenchmarkCell/id=" + goWord(c.ID(), "/")
	}
	return name
}

// goWord is one word, with a % and the characters in special as %XX.
func goWord(s, special string) string {
	var b strings.Builder
	for i, r := range s {
		bracket := r == '[' && strings.HasSuffix(s[:i], "##") // a command of GitHub's runner
		if r == ' ' || r == '%' || r == utf8.RuneError || bracket || !unicode.IsPrint(r) || strings.ContainsRune(special, r) {
			_, size := utf8.DecodeRuneInString(s[i:])
			for _, c := range []byte(s[i : i+size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

var (
	goBenchmark = lazyregexp.New(`^Benchmark\P{Ll}`)
	procs       = lazyregexp.New(`-(\d+)$`)
)

// procless keeps the end of a name from being read as a number of processors.
func procless(name string) string { return procs.ReplaceAllString(name, "%2D$1") }
