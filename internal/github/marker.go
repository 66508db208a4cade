package github

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// Seq is when something was said: the id of the workflow run, which only ever
// grows, and the attempt. The zero value is unknown.
type Seq struct {
	Run, Attempt int64
}

// String returns "RUN.ATTEMPT".
func (s Seq) String() string { return fmt.Sprintf("%d.%d", s.Run, s.Attempt) }

// compare orders by time; what is unknown comes first.
func (s Seq) compare(other Seq) int {
	return cmp.Or(cmp.Compare(s.Run, other.Run), cmp.Compare(s.Attempt, other.Attempt))
}

func (s Seq) known() bool { return s != Seq{} }

func parseSeq(run, attempt string) (Seq, bool) {
	r, err := strconv.ParseInt(run, 10, 64)
	a, otherErr := strconv.ParseInt(attempt, 10, 64)
	return Seq{r, a}, err == nil && otherErr == nil
}

// marker is the hidden first line of a comment, by which it is known again:
//
//	<!-- accelgate v=1 key=KEY seq=RUN.ATTEMPT sum=sha256:DIGEST state=STATE -->
//
// The digest is of the text below it. The state is left out where there is none.
type marker struct {
	key   string
	seq   Seq
	sum   string // "" in the form of old
	state string
}

var (
	markerLine = lazyregexp.New(
		`^<!-- accelgate v=1 key=(\S+) seq=(\d{1,19})\.(\d{1,19}) sum=sha256:([0-9a-f]{64})(?: state=([a-z0-9_-]{1,40}))? -->$`,
	)
	// markerOfOld is what versions before the above wrote.
	markerOfOld = lazyregexp.New(`^<!-- accelgate:(\S+) -->$`)
	validState  = lazyregexp.New(`^[a-z0-9_-]{0,40}$`)
)

func (m marker) String() string {
	state := ""
	if m.state != "" {
		state = " state=" + m.state
	}
	return fmt.Sprintf("<!-- accelgate v=1 key=%s seq=%s sum=sha256:%s%s -->", escapeKey(m.key), m.seq, m.sum, state)
}

// parseMarker reads a first line as strictly as it is written: anything else is
// somebody's text.
func parseMarker(line string) (marker, bool) {
	line = strings.TrimRight(line, " \r")
	if old := markerOfOld.FindStringSubmatch(line); old != nil {
		key, ok := unescapeKey(old[1])
		return marker{key: key}, ok
	}
	found := markerLine.FindStringSubmatch(line)
	if found == nil {
		return marker{}, false
	}
	key, ok := unescapeKey(found[1])
	seq, valid := parseSeq(found[2], found[3])
	return marker{key: key, seq: seq, sum: found[4], state: found[5]}, ok && valid
}

// of returns the marker of a text: where it was written for another one, that of
// an unknown run.
func (m marker) of(body string) marker {
	if m.sum != digest(body) {
		return marker{key: m.key, state: m.state}
	}
	return m
}

// escapeKey escapes a key so that it can neither end the line nor the HTML
// comment.
func escapeKey(key string) string {
	return strings.ReplaceAll(url.PathEscape(key), "--", "-%2D")
}

func unescapeKey(escaped string) (string, bool) {
	key, err := url.PathUnescape(escaped)
	return key, err == nil && escapeKey(key) == escaped
}

// digest is what a marker says of the text below it. Editing in the browser
// changes the ends of lines and of the text, which do not count.
func digest(text string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(normal(text))))
}

func normal(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
}

// sameText reports whether two texts differ in nothing that counts.
func sameText(a, b string) bool { return normal(a) == normal(b) }
