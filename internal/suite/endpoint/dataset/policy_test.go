package dataset_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
	"github.com/google/go-cmp/cmp"
)

func sequence(t testing.TB, d *dataset.Dataset, policy dataset.Policy, seed uint64) *dataset.Sequence {
	t.Helper()
	s, err := d.Sequence(policy, seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestUniqueSharesNothing(t *testing.T) {
	t.Parallel()
	same := load(t, jsonl, text(`{"prompt":"one and the same prompt"}`))
	s, next := sequence(t, same, dataset.Unique, 1), sequence(t, same, dataset.Unique, 2)
	seen := map[string]bool{}
	firsts := map[string]int{}
	const n = 5000
	for i := range n {
		for _, p := range []dataset.Prompt{s.Prompt(i, false), s.Prompt(i, true), next.Prompt(i, false)} {
			nonce, rest, _ := strings.Cut(p.Text, "\n\n")
			if seen[nonce] || rest != "one and the same prompt" || p.InputLength != 5+dataset.NonceWords || len(strings.Fields(nonce)) != dataset.NonceWords {
				t.Fatalf("request %d: %+v, seen before: %v", i, p, seen[nonce])
			}
			seen[nonce] = true
			firsts[strings.Join(strings.Fields(nonce)[:3], " ")]++
		}
	}
	for words, times := range firsts { // 15,000 draws of 2^24: more than three alike would be a pattern
		if times > 3 {
			t.Errorf("%d nonces begin with %q", times, words)
		}
	}
	if diff := cmp.Diff(s.Prompt(7, false), sequence(t, same, dataset.Unique, 1).Prompt(7, false)); diff != "" {
		t.Errorf("equal seeds: %s", diff)
	}
}

func TestPoliciesOnConversations(t *testing.T) {
	t.Parallel()
	d := load(t, jsonl, text(`{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}]}`))
	before := d.Prompt(0)
	for policy, want := range map[dataset.Policy][2]bool{dataset.Unique: {true, false}, dataset.KeepPrefix: {false, true}, dataset.AsIs: {}} {
		got := sequence(t, d, policy, 3).Prompt(0, false).Messages
		if (got[0].Content != "Be brief.") != want[0] || (got[1].Content != "hi") != want[1] {
			t.Errorf("%s: %+v", policy, got)
		}
	}
	if diff := cmp.Diff(before, d.Prompt(0)); diff != "" {
		t.Errorf("the dataset changed: %s", diff)
	}
	if !d.HasMessages() {
		t.Error("messages are not told")
	}
}

func TestKeepPrefixKeepsIt(t *testing.T) {
	t.Parallel()
	for _, spec := range []dataset.Spec{
		{Kind: dataset.SharedPrefix, Groups: 1, Prefix: 40, Input: fixed(30), N: 2},
		{Kind: dataset.Builtin, Set: dataset.RAGSet, N: 2, Groups: 1, Input: fixed(26)},
	} {
		d := load(t, spec, nil)
		s := sequence(t, d, dataset.KeepPrefix, 0)
		a, b := strings.Fields(s.Prompt(0, false).Text), strings.Fields(s.Prompt(2, false).Text)
		if common := sharedWords(a, b); common < 40 || common > 45 {
			t.Errorf("%s: the same prompt twice shares %d words, want its prefix of 40 and few by chance", spec.Kind, common)
		}
		if got := strings.Fields(d.Prompt(0).Text); len(a) != len(got)+dataset.NonceWords {
			t.Errorf("%s: %d words, and %d with a nonce", spec.Kind, len(got), len(a))
		}
	}
	_, err := load(t, dataset.Spec{Kind: dataset.Random, Input: fixed(3)}, nil).Sequence(dataset.KeepPrefix, 0)
	if err == nil || !strings.Contains(err.Error(), "write unique or as-is") {
		t.Errorf("no prefix to keep: %v", err)
	}
}

func TestWarmupStaysApart(t *testing.T) {
	t.Parallel()
	d := load(t, dataset.Spec{Kind: dataset.Random, N: 10, Input: fixed(5)}, nil)
	s := sequence(t, d, dataset.AsIs, 0)
	seen := map[string]bool{}
	for i := range 3 {
		seen[s.Prompt(i, true).Text] = true
	}
	for i := range 7 {
		if seen[s.Prompt(i, false).Text] {
			t.Errorf("measured prompt %d was asked in warm-up", i)
		}
	}
	if s.Prompt(12, false).Text != d.Prompt(2).Text {
		t.Error("requests beyond the dataset do not begin again")
	}
}

func TestRepeatsIsWhatIsAskedTwice(t *testing.T) {
	t.Parallel()
	d := load(t, jsonl, text(strings.Join(strings.Fields(`{"prompt":"a"} {"prompt":"b"} {"prompt":"c"} {"prompt":"b"} {"prompt":"d"}`), "\n")))
	for _, policy := range dataset.Policies()[:1] {
		if sequence(t, d, policy, 0).Repeats(5, 5) {
			t.Errorf("%s repeats", policy)
		}
	}
	s := sequence(t, d, dataset.AsIs, 0)
	for warmup := range 8 {
		for measured := range 8 {
			seen, want := map[string]bool{}, false
			ask := func(p dataset.Prompt) { want, seen[p.Text] = want || seen[p.Text], true }
			for i := range warmup {
				ask(s.Prompt(i, true))
			}
			for i := range measured {
				ask(s.Prompt(i, false))
			}
			if got := s.Repeats(warmup, measured); got != want {
				t.Errorf("Repeats(%d, %d) = %v, want %v", warmup, measured, got, want)
			}
		}
	}
}

func TestParsePolicy(t *testing.T) {
	t.Parallel()
	for _, p := range dataset.Policies() {
		if got, err := dataset.ParsePolicy(string(p)); got != p || err != nil {
			t.Errorf("%s: %s, %v", p, got, err)
		}
	}
	for name, want := range map[string]string{"": "is missing: write one of unique", "uniqe": "did you mean unique?", "x": "is not known"} {
		if _, err := dataset.ParsePolicy(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
