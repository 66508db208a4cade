package bench_test

import (
	"slices"
	"strings"
	"testing"
	"testing/quick"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/testtier"
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
	check("..%2Fetc__%", p("x", "../etc"), p("y", ""))
	check("100%25__a%0Ab%E2%80%AEc", p("x", "100%"), p("y", "a\nb\u202ec"))
	check("%FF__héé", p("x", "\xff"), p("y", "héé"))
}

// TestIDReversible holds for every value whatsoever: an id splits back into
// the values it was made of.
func TestIDReversible(t *testing.T) {
	alphabet := []string{"_", "__", "%", "%5F", "/", "\\", "a", "=", "\x00", "\xff", "é", "\u202e", " ", ""}
	property := func(picks [][]byte) bool {
		if len(picks) == 0 {
			return true
		}
		var cell bench.Cell
		var want []string
		for _, pick := range picks {
			var value strings.Builder
			for _, i := range pick {
				value.WriteString(alphabet[int(i)%len(alphabet)])
			}
			want = append(want, value.String())
			cell.Params = append(cell.Params, bench.Param{Key: "k", Value: value.String()})
		}
		id := cell.ID()
		got, err := bench.SplitID(id)
		if err != nil || !slices.Equal(got, want) {
			t.Logf("SplitID(%q) = %q, %v, want %q", id, got, err, want)
			return false
		}
		return !strings.ContainsAny(id, "/\\\x00\n")
	}
	if err := quick.Check(property, testtier.Quick(t, 5000)); err != nil {
		t.Error(err)
	}
}

func TestSplitIDRefusesBrokenEscapes(t *testing.T) {
	for _, id := range []string{"a%", "a%5", "a__b%zz", "%5f"} {
		if got, err := bench.SplitID(id); err == nil {
			t.Errorf("SplitID(%q) = %q, want an error", id, got)
		}
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
