package models

import (
	"math/rand/v2"
	"testing"
)

// edits is the definition of the distance of Levenshtein.
func edits(a, b []rune) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
		for j := range table[i] {
			switch {
			case i == 0 || j == 0:
				table[i][j] = i + j
			case a[i-1] == b[j-1]:
				table[i][j] = table[i-1][j-1]
			default:
				table[i][j] = 1 + min(table[i-1][j-1], table[i-1][j], table[i][j-1])
			}
		}
	}
	return table[len(a)][len(b)]
}

// compare holds within against the definition, for each limit.
func compare(t *testing.T, a, b []rune) {
	t.Helper()
	d := edits(a, b)
	for limit := range max(len(a), len(b)) + 2 {
		if got := within(a, b, limit); got != (d <= limit) {
			t.Errorf("%q and %q, which are %d edits apart, are within %d: %v", string(a), string(b), d, limit, got)
		}
	}
}

func TestWithinIsTheDefinition(t *testing.T) {
	compare(t, []rune("kitten"), []rune("sitting"))
	compare(t, nil, []rune("éü"))
	r := rand.New(rand.NewPCG(1, 2))
	text := func() []rune {
		s := make([]rune, r.IntN(16))
		for i := range s {
			s[i] = 'a' + r.Int32N(3)
		}
		return s
	}
	for range 3000 {
		compare(t, text(), text())
	}
}

func FuzzWithin(f *testing.F) {
	f.Add("kitten", "sitting")
	f.Add("aaaabaaaa", "abaaaaaab")
	f.Fuzz(func(t *testing.T, a, b string) {
		compare(t, []rune(a[:min(len(a), 60)]), []rune(b[:min(len(b), 60)]))
	})
}

// BenchmarkWithin is the worst that a configuration can ask for, and the usual.
func BenchmarkWithin(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	one, two := make([]rune, maxCompared), make([]rune, maxCompared)
	for i := range one {
		one[i], two[i] = r.Int32N(26), r.Int32N(26)
	}
	for name, limit := range map[string]int{"99%": maxCompared * 99 / 100, "5%": maxCompared * 5 / 100} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				within(one, two, limit)
			}
		})
	}
}
