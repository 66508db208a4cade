package chart_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/report/chart"
)

func TestStripShowsValuesMedianAndInterval(t *testing.T) {
	t.Parallel()
	got := chart.Strip([]chart.Group{{Name: "base", Class: "base", Values: []float64{10, 12, 14}}, {Name: "now", Class: "head", Values: []float64{20}, Low: 18, High: 22}}, "ms")
	for _, want := range []string{`class="dots base"`, `class="dots head"`, `class="interval head"`, `aria-label="base: 3 values, median 12 ms; now: 1 value, median 20 ms"`, ">22.6 ms<"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if n := strings.Count(got, "h0"); n != 4 {
		t.Errorf("%d dots, want 4", n)
	}
	if got := chart.Strip([]chart.Group{{Values: []float64{math.NaN()}}}, ""); got != "" {
		t.Errorf("no value gives %s", got)
	}
}

func TestTrendHasGapsChangesAndAnchor(t *testing.T) {
	t.Parallel()
	got := chart.Trend{Name: "tps", Unit: "1/s", Values: []float64{1, math.NaN(), 2, 3}, Doubtful: []bool{true, false, false}, Changes: []int{2, 9}, Anchor: 2}.SVG()
	for _, want := range []string{`class="anchor"`, `class="dots doubtful"`, "tps over 4 runs, now 3 1/s; changes of level: 2"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if n := strings.Count(got, `class="change"`); n != 1 {
		t.Errorf("%d changes are drawn, want the one inside", n)
	}
	if got := (chart.Trend{Values: []float64{1}}).SVG(); got != "" {
		t.Errorf("one run gives %s", got)
	}
}

func TestWaterfallAddsUp(t *testing.T) {
	t.Parallel()
	got := chart.Waterfall(10, []chart.Step{{"a", 1}, {"b", -4}, {"c", 0}, {"d", 0.5}, {"e", 0.25}}, 2, "ms")
	for _, want := range []string{">b<", ">a<", ">2 others<", ">+0.75<", `aria-label="from 10 to 7.75 ms in 3 steps, the largest b"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if got := chart.Waterfall(1, []chart.Step{{"same", 0}}, 2, ""); got != "" {
		t.Errorf("no change gives %s", got)
	}
}

func TestScatterMarksTheKnee(t *testing.T) {
	t.Parallel()
	svg := chart.Scatter{X: "req/s", Y: "TTFT p95 (ms)", Good: "holds", Mark: "knee", Points: []chart.Point{{X: 8, Y: 20, Good: true}, {X: 16, Y: 22, Good: true, Marked: true}, {X: 17, Y: 400}}}.SVG()
	for _, want := range []string{">knee</text>", `aria-label="TTFT p95 (ms) against req/s, 3 points, 2 of them: holds; knee at 16 req/s and 22 TTFT p95 (ms)"`} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in %s", want, svg)
		}
	}
	if got := (chart.Scatter{Points: []chart.Point{{X: 1, Y: 1}}}).SVG(); got != "" {
		t.Errorf("one point is %s", got)
	}
}

// FuzzCharts: whatever names and values are, a chart is well-formed, and all its coordinates are numbers.
func FuzzCharts(f *testing.F) {
	f.Add("a", 1.0, 2.0, 3.0)
	f.Add(`"><script>&`, math.Inf(1), math.NaN(), -math.MaxFloat64)
	f.Add("\x00\xff", math.MaxFloat64, -math.MaxFloat64, 0.0)
	f.Add("eq", 5.0, 5.0, 5.0)
	f.Fuzz(func(t *testing.T, name string, a, b, c float64) {
		if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0xfffd || r == 0xfffe || r == 0xffff }) {
			name = "unprintable" // callers make names visible
		}
		for _, svg := range []string{
			chart.Strip([]chart.Group{{name, "base", []float64{a, b}, c, a}, {name, "head", []float64{c, c, a}, a, b}}, name),
			chart.Trend{Name: name, Unit: name, Values: []float64{a, b, c}, Doubtful: []bool{true, true}, Changes: []int{1}, Anchor: c}.SVG(),
			chart.Trend{Name: name, Unit: name, Values: []float64{a, b, c}, Doubtful: []bool{true, true}, Changes: []int{1, 7}}.Spark(),
			chart.Scatter{X: name, Y: name, Good: name, Mark: name, Points: []chart.Point{{X: a, Y: b}, {X: c, Y: a, Good: true, Marked: true}, {X: b, Y: c}}}.SVG(),
			chart.Waterfall(a, []chart.Step{{name, b}, {name, c}, {name, a}}, 1, name),
		} {
			if strings.Contains(svg, "script") && !strings.Contains(name, "script") {
				t.Errorf("a script in %s", svg)
			}
			wellFormed(t, svg)
		}
	})
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v: %s", err, svg)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range start.Attr {
			if strings.Contains("d x y viewBox", a.Name.Local) && strings.ContainsAny(a.Value, "NIae") {
				t.Errorf("%s=%q in %s", a.Name.Local, a.Value, svg)
			}
		}
	}
}

// TestCurves: values that an axis cannot show are left out, a curve of one value is
// none, and more curves than have lines of their own are not drawn.
func TestCurves(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	c := chart.Curves{X: "p", Y: "share", LogX: true, Curves: []chart.Curve{
		{Name: "<a>", X: []float64{0.1, 0, 1, 10}, Y: []float64{1, 1, nan, 0}}, {Name: "one", X: []float64{1}, Y: []float64{1}}}}
	svg := c.SVG()
	if !strings.Contains(svg, "&lt;a&gt;: from 1 at 0.1 to 0 at 10") || strings.Contains(svg, "one") || strings.Count(svg, `"curve c0"`) != 2 {
		t.Error(svg)
	}
	for range chart.MaxCurves + 2 {
		c.Curves = append(c.Curves, c.Curves[0])
	}
	if svg := c.SVG(); strings.Count(svg, `<path class="curve`) != 2*chart.MaxCurves {
		t.Error(svg)
	}
	for _, none := range []chart.Curves{{}, {LogY: true, Curves: []chart.Curve{{X: []float64{1, 2}, Y: []float64{0, -1}}}}} {
		if svg := none.SVG(); svg != "" {
			t.Error(svg)
		}
	}
}
