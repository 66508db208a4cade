package dataset_test

import (
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/endpoint/dataset"
)

var talks = dataset.Spec{Kind: dataset.SharedPrefix, N: 8, Groups: 2, Prefix: 20, Seed: 5, Input: fixed(6), Output: uniform(2, 9),
	Conversation: dataset.Conversation{Turns: uniform(1, 4), Input: uniform(3, 8), Think: dataset.Lengths{Dist: dataset.LogNormal, P50: 800, Sigma: 0.5}}}

func uniform(low, high int) dataset.Lengths {
	return dataset.Lengths{Dist: dataset.Uniform, Min: low, Max: high}
}

func turnsOf(t *testing.T, spec dataset.Spec, seed uint64, open dataset.Open) [][]dataset.Turn {
	t.Helper()
	s, err := load(t, spec, open).Sequence(dataset.Unique, seed)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]dataset.Turn
	for k := range 300 {
		var one []dataset.Turn
		for n := 0; ; n++ {
			q, ok := s.Turn(k, n)
			if !ok {
				break
			}
			one = append(one, q)
		}
		all = append(all, one)
	}
	return all
}

// TestConversationsFollowTheirSeed: equal seeds ask the same, other ones do
// not, and all questions keep their rules.
func TestConversationsFollowTheirSeed(t *testing.T) {
	t.Parallel()
	a, b := turnsOf(t, talks, 1, nil), turnsOf(t, talks, 1, nil)
	other := turnsOf(t, with(talks, func(s *dataset.Spec) { s.Seed = 6 }), 1, nil)
	texts, counts, same := map[string]bool{}, map[int]int{}, 0
	for k := range a {
		counts[len(a[k])]++
		for n, q := range a[k] {
			if q != b[k][n] {
				t.Fatalf("conversation %d, question %d: %+v and %+v", k, n, q, b[k][n])
			}
			if n < len(other[k]) && other[k][n].Text == q.Text {
				same++
			}
			if texts[q.Text] || q.Text == "" || q.OutputTokens < 2 || q.OutputTokens > 9 {
				t.Errorf("conversation %d, question %d: %+v", k, n, q)
			}
			texts[q.Text] = true
			if later := n > 0; later && (q.Words != len(strings.Fields(q.Text)) || q.Words < 3 || q.Words > 8) || later != (q.Think > 0) {
				t.Errorf("conversation %d, question %d: %+v", k, n, q)
			}
		}
	}
	if same > 0 || len(counts) != 4 || counts[1] < 40 || counts[4] < 40 {
		t.Errorf("%d questions are those of another seed; turns %v", same, counts)
	}
}

const recordedTalks = `[
 {"conversations":[{"from":"human","value":"one two"},{"from":"gpt","value":"a b c"},{"from":"human","value":"three"},{"from":"gpt","value":"d e"},{"from":"human","value":" "}]},
 {"conversations":[{"from":"gpt","value":"hi"},{"from":"human","value":"four"}]}]`

func TestRecordedConversations(t *testing.T) {
	t.Parallel()
	spec := with(shareGPT, func(s *dataset.Spec) { s.Conversation.Think = fixed(250) })
	got := turnsOf(t, spec, 1, text(recordedTalks))
	if len(got[0]) != 2 || len(got[1]) != 1 || len(got[2]) != 2 {
		t.Fatalf("%d, %d and %d questions", len(got[0]), len(got[1]), len(got[2]))
	}
	if want := (dataset.Turn{Text: "three", Words: 1, Think: 250 * time.Millisecond}); got[0][1] != want {
		t.Errorf("got %+v, want %+v", got[0][1], want)
	}
	capped := with(spec, func(s *dataset.Spec) { s.Conversation.Turns = fixed(1) })
	if got := turnsOf(t, capped, 1, text(recordedTalks)); len(got[0]) != 1 {
		t.Errorf("%d questions, want 1", len(got[0]))
	}
	answers := with(spec, func(s *dataset.Spec) { s.AnswerLengths = true })
	if got := turnsOf(t, answers, 1, text(recordedTalks))[0]; len(got) != 2 || got[1].OutputTokens != 2 {
		t.Errorf("with lengths of answers: %+v", got)
	}
	hash := func(spec dataset.Spec, file string) string { return load(t, spec, text(file)).Hash }
	plain := hash(shareGPT, recordedTalks)
	if hash(spec, recordedTalks) == plain || hash(spec, recordedTalks) == hash(capped, recordedTalks) ||
		hash(spec, recordedTalks) == hash(spec, strings.Replace(recordedTalks, "three", "five", 1)) {
		t.Error("other conversations have an equal hash")
	}
	if plain != hash(shareGPT, strings.Replace(recordedTalks, "three", "five", 1)) {
		t.Error("without conversations, later questions change the hash")
	}
}
