package dataset_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
)

func inputs(d *dataset.Dataset) (all []float64) {
	for i := range d.Len() {
		all = append(all, float64(d.Prompt(i).InputLength))
	}
	return all
}

func meanAndDeviation(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, math.Sqrt(deviation)
}

// The bounds of these tests are five standard errors of n draws; seeds are fixed.
func TestLognormalLengths(t *testing.T) {
	t.Parallel()
	const n = 4000
	for seed, c := range []struct {
		p50   int
		sigma float64
	}{{100, 0.3}, {200, 1}, {50, 0.8}} {
		d := load(t, dataset.Spec{Kind: dataset.Lognormal, N: n, Seed: int64(seed), Input: logNormal(c.p50, c.sigma)}, nil)
		logs := inputs(d)
		for i := range logs {
			logs[i] = math.Log(logs[i])
		}
		slices.Sort(logs)
		mean, deviation := meanAndDeviation(logs)
		bound := 5 * c.sigma / math.Sqrt(n)
		for name, got := range map[string]float64{"mean": mean - math.Log(float64(c.p50)), "deviation": deviation - c.sigma,
			"median": (logs[n/2] - math.Log(float64(c.p50))) / 1.26} {
			if math.Abs(got) > bound {
				t.Errorf("p50 %d, sigma %v: %s of logarithms is off by %.4f, bound %.4f", c.p50, c.sigma, name, got, bound)
			}
		}
	}
}

func TestLengthsKeepTheirBounds(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]dataset.Lengths{
		"uniform":   {Dist: dataset.Uniform, Min: 3, Max: 9},
		"lognormal": {Dist: dataset.LogNormal, P50: 5, Sigma: 2, Min: 3, Max: 9},
		"one value": {Dist: dataset.LogNormal, P50: 4, Sigma: 5, Min: 4, Max: 4},
	} {
		seen := map[int]int{}
		d := load(t, dataset.Spec{Kind: dataset.Random, N: 2000, Input: l, Output: l}, nil)
		for _, p := range all(d) {
			seen[p.InputLength]++
			if p.InputLength < l.Min || p.InputLength > l.Max || p.OutputTokens < l.Min || p.OutputTokens > l.Max {
				t.Fatalf("%s: input %d, output %d", name, p.InputLength, p.OutputTokens)
			}
		}
		for v := l.Min; v <= l.Max; v++ {
			// Uniform: 2000/7 each, with a deviation of 16.
			if seen[v] == 0 || l.Dist == dataset.Uniform && (seen[v] < 206 || seen[v] > 366) {
				t.Errorf("%s: %d was drawn %d times", name, v, seen[v])
			}
		}
	}
}

func TestGeneratedTextHasItsLength(t *testing.T) {
	t.Parallel()
	for _, c := range datasets {
		for i, p := range all(load(t, c.spec, text(c.file))) {
			var said string
			for _, m := range p.Chat() {
				said += m.Content + " "
			}
			if got := len(strings.Fields(said)); got != p.InputLength {
				t.Errorf("%s, prompt %d: %d words, says %d", c.name, i, got, p.InputLength)
			}
		}
	}
}

func TestLargestPromptIsBelowTheLimit(t *testing.T) {
	t.Parallel()
	d := load(t, dataset.Spec{Kind: dataset.Random, N: 1, Input: fixed(dataset.MaxWords)}, nil)
	if got := len(d.Prompt(0).Text); got > dataset.MaxPromptBytes || got < dataset.MaxWords*4 {
		t.Errorf("%d bytes", got)
	}
}

func TestTotalIsBounded(t *testing.T) {
	t.Parallel()
	_, err := dataset.Load(dataset.Spec{Kind: dataset.Random, N: dataset.MaxPrompts, Input: fixed(dataset.MaxWords)}, nil)
	if err == nil || !strings.Contains(err.Error(), "write n: 2048 or less") {
		t.Errorf("got %v", err)
	}
}

func TestMorePromptsBeginWithFewer(t *testing.T) {
	t.Parallel()
	few := load(t, dataset.Spec{Kind: dataset.Lognormal, N: 5, Input: logNormal(20, 1), Output: logNormal(20, 1)}, nil)
	more := load(t, dataset.Spec{Kind: dataset.Lognormal, N: 50, Input: logNormal(20, 1), Output: logNormal(20, 1)}, nil)
	for i, p := range all(few) {
		if q := more.Prompt(i); p.Text != q.Text || p.OutputTokens != q.OutputTokens {
			t.Errorf("prompt %d differs", i)
		}
	}
}

func TestGroupsShareTheirPrefixOnly(t *testing.T) {
	t.Parallel()
	for _, spec := range []dataset.Spec{
		{Kind: dataset.SharedPrefix, Groups: 3, Prefix: 40, Input: fixed(30)},
		{Kind: dataset.Builtin, Set: dataset.RAGSet, N: 9, Groups: 3, Input: fixed(40)},
	} {
		prompts := all(load(t, spec, nil))
		for i, p := range prompts {
			for j := range i {
				common := sharedWords(strings.Fields(p.Text), strings.Fields(prompts[j].Text))
				if same := i%3 == j%3; same != (common >= 40) {
					t.Errorf("%s: prompts %d and %d share %d words", spec.Kind, j, i, common)
				}
			}
		}
	}
}

func TestBuiltinPromptsDiffer(t *testing.T) {
	t.Parallel()
	for _, set := range []string{dataset.ChatSet, dataset.CodeSet} {
		d := load(t, dataset.Spec{Kind: dataset.Builtin, Set: set}, nil)
		s, err := d.Sequence(dataset.AsIs, 0)
		if err != nil {
			t.Fatal(err)
		}
		if d.Len() != 10 || s.Repeats(0, 10) || !s.Repeats(0, 11) || !s.Repeats(1, 10) {
			t.Errorf("%s: %d prompts, some of them equal", set, d.Len())
		}
	}
}
