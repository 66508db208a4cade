package worker

import (
	"fmt"
	"strings"
	"sync"

	"github.com/accelgate/accelgate/internal/text"
)

// transcript keeps the beginning and the end of several streams, half of max bytes each.
type transcript struct {
	max int

	mu   sync.Mutex
	head []byte
	tail tail
	n    int // bytes ever written
}

func (t *transcript) write(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n += len(p)
	room := min(t.max/2-len(t.head), len(p))
	t.head = append(t.head, p[:room]...)
	if room < len(p) {
		t.tail.max = t.max - t.max/2
		t.tail.write(p[room:])
	}
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	b.Write(t.head)
	end := t.tail.bytes()
	if left := t.n - len(t.head) - len(end); left > 0 {
		fmt.Fprintf(&b, "\n[accelgate left out %s]\n", text.Plural(left, "byte"))
	}
	b.Write(end)
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}
