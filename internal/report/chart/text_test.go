package chart_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/report/chart"
)

func TestSparkline(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{nil, ""},
		{[]float64{1, nan, inf}, ""},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8}, "▁▂▃▄▅▆▇█"},
		{[]float64{100, 100.1, nan, 99.9, 100}, "▅▅▄▅"}, // noise stays in the middle
		{[]float64{100, 101, 100, 75}, "███▁"},
		{[]float64{0, 0}, "▅▅"},
		{[]float64{-math.MaxFloat64, math.MaxFloat64}, "▁█"},
		{[]float64{9, 9, 9, 9, 1, 9, 1}, "▁█▁"}, // the newest three
	} {
		maximum := 20
		if len(c.values) == 7 {
			maximum = 3
		}
		if got := chart.Sparkline(c.values, maximum); got != c.want {
			t.Errorf("%v: %s, want %s", c.values, got, c.want)
		}
	}
}

func TestTrendText(t *testing.T) {
	t.Parallel()
	trend := chart.Trend{Values: []float64{10, 11, 10, math.NaN(), 20, 21, 20}, Doubtful: []bool{false, true, false, false, false, false, false}, Changes: []int{4}}
	lines, shown := trend.Text(40, 4)
	want := strings.Join([]string{
		"          21 |    :**#",
		"             |    :",
		"             |    :",
		"          10 |*o* :",
	}, "\n")
	if got := strings.Join(lines, "\n"); got != want || shown != 7 {
		t.Errorf("%d runs:\n%s\nwant\n%s", shown, got, want)
	}
	if lines, shown = trend.Text(18, 4); shown != 3 || lines[0] != "       21.02 | *" {
		t.Errorf("%d of the runs are drawn in 18 columns, want 3:\n%s", shown, strings.Join(lines, "\n"))
	}
	if lines, _ = (chart.Trend{Values: []float64{1, math.NaN()}}).Text(40, 4); lines != nil {
		t.Errorf("%q of one value", lines)
	}
}

// FuzzText: whatever the values are, lines keep their width, and each finite value has a mark.
func FuzzText(f *testing.F) {
	f.Add([]byte("12345678abcdefgh"), 40, 6)
	f.Add(make([]byte, 80), 0, 2)
	f.Fuzz(func(t *testing.T, data []byte, columns, rows int) {
		var values []float64
		for ; len(data) >= 8; data = data[8:] {
			values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(data)))
		}
		columns, rows = columns%200, rows%20
		trend := chart.Trend{Values: values, Changes: []int{1, -1, 1 << 40}}
		lines, shown := trend.Text(columns, rows)
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > max(columns, 20) {
				t.Errorf("%d runes in %d columns", n, columns)
			}
		}
		marks, finite := strings.Count(strings.Join(lines, ""), "*")+strings.Count(strings.Join(lines, ""), "#"), 0
		for _, v := range values[len(values)-shown:] {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				finite++
			}
		}
		if lines != nil && marks != finite {
			t.Errorf("%d marks of %d values in\n%s", marks, finite, strings.Join(lines, "\n"))
		}
		if spark := chart.Sparkline(values, 20); utf8.RuneCountInString(spark) > 20 {
			t.Errorf("%q", spark)
		}
	})
}
