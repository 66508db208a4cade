package worker

import (
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

type kept struct {
	Stdout, Stderr, Log string
	Truncated           bool
}

// captureOf captures output that arrives all at once or byte by byte.
func captureOf(t *testing.T, output string, maxBytes int, whole bool) kept {
	t.Helper()
	c := newCapture(maxBytes, maxBytes)
	out, err := strings.NewReader(output), strings.NewReader("")
	if whole {
		c.start(out, err)
	} else {
		c.start(iotest.OneByteReader(out), err)
	}
	if !c.await(time.After(time.Minute)) {
		t.Fatal("the streams do not end")
	}
	c.stderr.write([]byte(output)) // the same bytes, so that both rules can be checked
	return kept{string(c.stdout.buf), string(c.stderr.bytes()), c.log.String(), c.stdout.truncated}
}

// What is kept does not depend on how the bytes happened to be chunked.
func FuzzCapture(f *testing.F) {
	f.Add("one\ntwo", 5)
	f.Add("10%\r50%\r100%\r\nnext\r\r\n\r", 1)
	f.Add(strings.Repeat("line\n", 3*logLines)+"\r", 64)
	f.Add(strings.Repeat("long", logLine)+"\rshort\n\xff\xfe\x00", 1000)
	f.Fuzz(func(t *testing.T, output string, maxBytes int) {
		if maxBytes < 1 || maxBytes > 1<<20 || len(output) > 1<<16 {
			return
		}
		got := captureOf(t, output, maxBytes, true)
		if diff := cmp.Diff(got, captureOf(t, output, maxBytes, false)); diff != "" {
			t.Errorf("chunks matter (-whole +bytewise):\n%s", diff)
		}
		n := min(maxBytes, len(output))
		if got.Stdout != output[:n] || got.Truncated != (n < len(output)) {
			t.Errorf("stdout %q, truncated %v, want the first %d bytes of %q", got.Stdout, got.Truncated, n, output)
		}
		if got.Stderr != output[len(output)-n:] {
			t.Errorf("stderr %q, want the last %d bytes of %q", got.Stderr, n, output)
		}
		lines := strings.SplitAfter(got.Log, "\n")
		if len(lines) > logLines+1 || !utf8.ValidString(got.Log) {
			t.Errorf("log has %d lines, valid %v: %q", len(lines)-1, utf8.ValidString(got.Log), got.Log)
		}
		for _, line := range lines {
			if len(line) > 3*logLine+len("...\n") { // an invalid byte becomes three
				t.Errorf("log has a line of %d bytes", len(line))
			}
		}
	})
}
