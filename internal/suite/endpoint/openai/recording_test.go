package openai

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestPiecesAreBounded holds the memory that the times of reads take.
func TestPiecesAreBounded(t *testing.T) {
	t.Parallel()
	dribble := strings.Repeat("\n", 5000)
	for asked, want := range map[int]bool{1: true, 100: false, 0: false} {
		r := recording{maxTokens: asked}
		err := record(t, &r, iotest.OneByteReader(strings.NewReader(dribble)))
		if errors.Is(err, errTooLong) != want || len(r.reads) > 5000 {
			t.Errorf("%d tokens: %v after %d reads", asked, err, len(r.reads))
		}
	}
}

func TestBound(t *testing.T) {
	t.Parallel()
	for tokens, want := range map[int]int{-1: 100, 0: 100, 1: 13, 30: 100, 29: 97, 31: 100, 1 << 62: 100} {
		if got := bound(10, 3, 100, tokens); got != want {
			t.Errorf("%d tokens: %d, want %d", tokens, got, want)
		}
	}
}

// TestStreamWithAKeyTwiceIsAnswered: of two values of one key, such as of a count of
// tokens, one was taken without a word.
func TestStreamWithAKeyTwiceIsAnswered(t *testing.T) {
	t.Parallel()
	const end = "\n\ndata: [DONE]\n\n"
	for chunk, want := range map[string]string{
		`{"choices":[],"usage":{"prompt_tokens":15,"completion_tokens":10}}`:                                   "",
		`{"choices":[],"usage":{"completion_tokens":10,"x":1,"x":2}}`:                                          "",
		`{"choices":[],"usage":{"completion_tokens":10,"completion_tokens":1000}}`:                             "completion_tokens",
		`{"choices":[],"usage":{"completion_tokens":10},"usage":{"completion_tokens":1000}}`:                   "usage",
		`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop","finish_reason":"length"}]}`:              "finish_reason",
		`{"choices":[],"choices":[{"delta":{"content":"a"}}]}`:                                                 "choices",
		`{"choices":[{"delta":{"content":"a","content":""}},{"delta":{"content":"b"}}]}`:                       "content",
		`{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}`:                                    "",
		`{"choices":[],"usage":{"prompt_tokens_details":{"cached_tokens":1,"cached_tokens":2}}}`:               "cached_tokens",
		`{"choices":[],"timings":{"prompt_ms":1.5,"predicted_ms":3,"prompt_ms":0.5,"prompt_n":1,"cache_n":1}}`: "prompt_ms",
	} {
		var r recording
		var reply Reply
		if err := record(t, &r, strings.NewReader(line+strings.TrimSuffix(lastLines, end[2:])+"data: "+chunk+end)); err != nil {
			t.Fatal(err)
		}
		memoryClient(t).conclude(&reply, &r, Expect{}, nil, nil)
		if want == "" && reply.Outcome != OK || want != "" && (reply.Outcome != BadJSON || !strings.Contains(reply.Reason, `the key "`+want+`" occurs twice`)) {
			t.Errorf("%s: %s (%s), want %q", chunk, reply.Outcome, reply.Reason, want)
		}
	}
}

// TestWhatOnlyBeganAsDone is cut off after the linger, by a mistake that is
// ours: the outcome is that of the received part.
func TestWhatOnlyBeganAsDone(t *testing.T) {
	t.Parallel()
	const begin = line + lastLines
	half := strings.TrimSpace(begin)
	for rest, want := range map[string]Outcome{"": OK, "x": OK, "x\n": BadJSON, " \r\n": OK} {
		var r recording
		var reply Reply
		if err := record(t, &r, io.MultiReader(strings.NewReader(half), strings.NewReader(rest))); err != nil || !r.done {
			t.Fatalf("%q: %v, noticed %t", rest, err, r.done)
		}
		memoryClient(t).conclude(&reply, &r, Expect{}, errLinger, context.Canceled)
		if done := !strings.Contains(rest, "x"); reply.Outcome != want || (reply.Done > 0) != done {
			t.Errorf("%q: %s (%s), want %s", rest, reply.Outcome, reply.Reason, want)
		}
	}
}
