package worker

import (
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/text"
)

type said struct {
	Answered             bool
	Result, Message, Log string
}

// listenTo reads output that arrives all at once or byte by byte, while the
// answer to request 7 is awaited.
func listenTo(t *testing.T, output string, maxReply int, whole bool) said {
	t.Helper()
	d := newDialogue(maxReply, 100)
	d.expect(7)
	out := strings.NewReader(output)
	if whole {
		d.start(out, strings.NewReader(""))
	} else {
		d.start(iotest.OneByteReader(out), strings.NewReader(""))
	}
	if !d.await(time.After(time.Minute)) {
		t.Fatal("the streams do not end")
	}
	var resp Response
	d.report(&resp)
	select {
	case a := <-d.answers:
		return said{true, string(a.result), a.message, resp.Log}
	default:
		return said{Log: resp.Log}
	}
}

// Whatever a child prints, it is read alike in any chunks, and only a line
// with the awaited id answers.
func FuzzDialogue(f *testing.F) {
	f.Add("loading\n{\"id\":7,\"result\":{\"a\":1}}\n{\"id\":7,\"result\":2}\n", 100)
	f.Add("{\"id\":6,\"result\":1}\n{\"id\":7,\"error\":\"\\ud800\"}", 100)
	f.Add("{\"id\":7,\"result\":\""+strings.Repeat("x", 100)+"\"}\r\n\n{", 50)
	f.Add("{\r{\"id\":7}\n{\"ID\":7,\"id\":null}\n"+strings.Repeat("{", 300)+"\n\xff", 200)
	f.Fuzz(func(t *testing.T, output string, maxReply int) {
		if maxReply < 1 || maxReply > 1<<20 || len(output) > 1<<16 {
			return
		}
		got := listenTo(t, output, maxReply, true)
		if diff := cmp.Diff(got, listenTo(t, output, maxReply, false)); diff != "" {
			t.Errorf("chunks matter (-whole +bytewise):\n%s", diff)
		}
		if len(got.Result) > maxReply || !utf8.ValidString(got.Log) || !utf8.ValidString(text.Clip(got.Message, logLine)) || len(text.Clip(got.Message, logLine)) > logLine+3 {
			t.Errorf("%q gives %+v", output, got)
		}
		if got.Answered && !strings.Contains(output, "{") {
			t.Errorf("%q answers", output)
		}
	})
}
