package bench_test

import (
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"unicode"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func TestCellID(t *testing.T) {
	check := func(want string, params ...bench.Param) {
		t.Helper()
		if got := (bench.Cell{Suite: "s", Params: params}).ID(); got != want {
			t.Errorf("ID() = %q, want %q", got, want)
		}
	}
	p := func(k, v string) bench.Param { return bench.Param{Key: k, Value: v} }

	// The ids of TensorSharp's own documentation.
	check("gemma-4-e4b-it-q8_0__ggml_metal__short_text__baseline",
		p("model", "gemma-4-e4b-it-q8_0"), p("backend", "ggml_metal"), p("feature", "short_text"), p("env", "baseline"))
	check("m__ggml_metal__tg128__KV_CACHE_DTYPE=q8_0",
		p("model", "m"), p("backend", "ggml_metal"), p("feature", "tg128"), p("env.KV_CACHE_DTYPE", "q8_0"))

	// What would be ambiguous or unsafe is escaped.
	check("a%5F%5Fb__c", p("x", "a__b"), p("y", "c"))
	check("a%5F__%5Fb", p("x", "a_"), p("y", "_b"))
	check("../etc__%", p("x", "../etc"), p("y", ""))
	check("100%__a%0Ab%E2%80%AEc", p("x", "100%"), p("y", "a\nb\u202ec"))
	check("%FF__héé", p("x", "\xff"), p("y", "héé"))
	check("100%2520__%25", p("x", "100%20"), p("y", "%"))

	// A single name stays as it is written.
	check("BenchmarkDistance/n=50", p("benchmark", "BenchmarkDistance/n=50"))
	check(`tests\a.py::test__fib[50%]_`, p("benchmark", `tests\a.py::test__fib[50%]_`))
	check("a%0Ab%41", p("benchmark", "a\nb%41"))
	check("test_get[a%20b]", p("benchmark", "test_get[a%20b]"))
}

var pieces = []string{"_", "__", "%", "%5F", "%2F", "%25", "2", "5F", "/", "\\", "a", "=", "\x00", "\xff", "é", "\u202e", " ", ""}

// cellOf makes a cell of pieces that ids treat in different ways.
func cellOf(picks [][]byte) (cell bench.Cell, values []string) {
	for _, pick := range picks {
		var value strings.Builder
		for _, i := range pick {
			value.WriteString(pieces[int(i)%len(pieces)])
		}
		values = append(values, value.String())
		cell.Params = append(cell.Params, bench.Param{Key: "k", Value: value.String()})
	}
	return cell, values
}

// TestIDReversible holds for every value whatsoever: an id of several values splits back
// into them, and a single one that can be printed is its id.
func TestIDReversible(t *testing.T) {
	property := func(picks [][]byte) bool {
		cell, want := cellOf(picks)
		id := cell.ID()
		switch len(want) {
		case 0:
			return id == ""
		case 1:
			printed := utf8.ValidString(want[0]) && !strings.ContainsFunc(want[0], func(r rune) bool { return !unicode.IsPrint(r) })
			return !printed || want[0] == "" || want[0] == "%" || id == want[0]
		}
		if got := bench.SplitID(id); !slices.Equal(got, want) {
			t.Logf("SplitID(%q) = %q, want %q", id, got, want)
			return false
		}
		return !strings.ContainsAny(id, "\x00\n")
	}
	if err := quick.Check(property, testtier.Quick(t, 5000)); err != nil {
		t.Error(err)
	}
}

func TestGain(t *testing.T) {
	check := func(d bench.Direction, old, new, want float64, wantOK bool) {
		t.Helper()
		got, ok := d.Gain(old, new)
		if got != want || ok != wantOK {
			t.Errorf("%q.Gain(%v, %v) = %v, %v, want %v, %v", d, old, new, got, ok, want, wantOK)
		}
	}
	check(bench.Higher, 100, 90, -10, true)
	check(bench.Lower, 100, 90, 10, true)
	check("", 100, 90, -10, true)
	check(bench.Higher, 0, 5, 0, false)
	check(bench.Higher, -100, -50, 50, true)
	check(bench.Lower, -100, -50, -50, true)
}
