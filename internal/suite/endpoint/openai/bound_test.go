package openai_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// TestAnswersAreBoundedByWhatWasAsked serves each body for requests of one
// token, of many, and of a number that is not known.
func TestAnswersAreBoundedByWhatWasAsked(t *testing.T) {
	t.Parallel()
	const chunk = `data: {"choices":[{"text":"a"}]}` + "\n"
	for name, tt := range map[string]struct {
		body  string
		few   string // the reason for one token
		later openai.Outcome
	}{
		"bytes":  {token + ": " + strings.Repeat("x", 3<<19) + "\n" + ending, "more than 1064960 bytes", openai.OK},
		"chunks": {strings.Repeat(chunk, 4200) + ending, "more than 4160 chunks", openai.OK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := raw(t, func(_, _ int, w net.Conn) bool { write(w, sized(tt.body)); return false })
			c := client(t, openai.Options{BaseURL: url})
			for _, asked := range []int{1, 500, 0, 1 << 62} {
				r := c.Stream(t.Context(), chat(t), openai.Expect{MaxTokens: asked})
				checkTimes(t, r)
				if asked != 1 && r.Outcome != tt.later {
					t.Errorf("%d tokens: %s (%s), want %s", asked, r.Outcome, r.Reason, tt.later)
				}
				if asked == 1 && (r.Outcome != openai.BadJSON || !strings.Contains(r.Reason, tt.few) || !strings.Contains(r.Reason, "max_tokens")) {
					t.Errorf("one token: %s (%s), want %q", r.Outcome, r.Reason, tt.few)
				}
				if asked == 1 && len(r.Tokens) > 4160 {
					t.Errorf("%d tokens were kept", len(r.Tokens))
				}
			}
		})
	}
}

// TestClosingTimeIsNoLatency ends each body late, but in time for its
// connection to serve again.
func TestClosingTimeIsNoLatency(t *testing.T) {
	t.Parallel()
	url := raw(t, func(_, _ int, w net.Conn) bool {
		const head = eventHead + "Transfer-Encoding: chunked\r\n\r\n"
		all := token + ending
		write(w, head+fmt.Sprintf("%x", len(all))+"\r\n"+all+"\r\n")
		time.Sleep(time.Millisecond)
		return write(w, "0\r\n\r\n")
	})
	c := client(t, openai.Options{BaseURL: url, KeepAlive: true})
	for range 3 {
		r := c.Stream(t.Context(), chat(t), openai.Expect{})
		if r.Outcome != openai.OK || r.Done == 0 || r.EOF != r.Done {
			t.Errorf("%s (%s), [DONE] at %v, the end at %v", r.Outcome, r.Reason, r.Done, r.EOF)
		}
	}
}
