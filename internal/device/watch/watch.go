// Package watch reads the state of a host's NVIDIA GPUs, by one nvidia-smi for all who ask: energy, gauges and health of the
// host. It judges nothing.
package watch

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/device"
)

// maxRows bounds the rows that are kept: 12 hours of one GPU at ten a second, or an hour and a half of eight.
const maxRows = 432_000

// Host runs one nvidia-smi while it has readers. Its methods are safe for concurrent use.
type Host struct {
	environ []string // in which nvidia-smi is looked for
	now     func() time.Time

	turn   sync.Mutex    // starts and stops nvidia-smi
	period time.Duration // between two rows of a GPU
	stop   func()        // nil where no nvidia-smi was started

	mu      sync.Mutex
	readers []*Reader
	rows    []Row
	gone    int    // rows before the first one of rows, which no reader wants
	trouble string // why no further rows come, with what to do
}

// New returns the watch of this host, which starts no program yet. The times of now have a monotonic part.
func New(environ []string, now func() time.Time) *Host { return &Host{environ: environ, now: now} }

// Reader gets the rows from when it joined until it leaves. Its methods are safe for concurrent use.
type Reader struct {
	host  *Host
	begin int
	left  bool
	kept  []Row // once it has left
	why   string
}

// Join returns a reader of rows that are at most a period apart. It starts nvidia-smi, or replaces one that is slower or has ended.
func (h *Host) Join(period time.Duration) *Reader {
	h.turn.Lock()
	defer h.turn.Unlock()
	if h.stop != nil && (period < h.period || h.ended()) {
		h.stop()
		h.stop = nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &Reader{host: h, begin: h.gone + len(h.rows)}
	h.readers = append(h.readers, r)
	if h.stop == nil {
		h.period, h.trouble = period, ""
		ctx, cancel := context.WithCancel(context.Background())
		var done sync.WaitGroup
		done.Go(func() { h.run(ctx, period) })
		h.stop = func() { cancel(); done.Wait() }
	}
	return r
}

// Leave ends a reader, whose rows stay. The last one ends nvidia-smi. Further calls do nothing.
func (r *Reader) Leave() {
	h := r.host
	h.turn.Lock()
	defer h.turn.Unlock()
	if h.forget(r) == 0 && h.stop != nil {
		h.stop()
		h.stop = nil
	}
}

// forget drops the rows that no other reader wants, and returns how many readers are left.
func (h *Host) forget(r *Reader) (left int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !r.left {
		r.kept, r.why, r.left = slices.Clip(h.rows[r.begin-h.gone:]), h.trouble, true
		h.readers = slices.DeleteFunc(h.readers, func(one *Reader) bool { return one == r })
	}
	first := h.gone + len(h.rows)
	for _, one := range h.readers {
		first = min(first, one.begin)
	}
	h.rows, h.gone = h.rows[first-h.gone:], first
	return len(h.readers)
}

// Rows returns the rows so far, in the order in which they were printed.
func (r *Reader) Rows() []Row {
	r.host.mu.Lock()
	defer r.host.mu.Unlock()
	if r.left {
		return r.kept
	}
	return slices.Clip(r.host.rows[r.begin-r.host.gone:])
}

// Trouble says why no further rows come, with what to do; "" while they come.
func (r *Reader) Trouble() string {
	r.host.mu.Lock()
	defer r.host.mu.Unlock()
	if r.left {
		return r.why
	}
	return r.host.trouble
}

// Await waits until the rows are enough, or none can come, or ctx is done, or for a time at most.
func (r *Reader) Await(ctx context.Context, limit time.Duration, enough func([]Row) bool) {
	end := time.NewTimer(limit)
	defer end.Stop()
	for !enough(r.Rows()) && r.Trouble() == "" {
		select {
		case <-ctx.Done():
			return
		case <-end.C:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Listed returns the GPUs of rows, each once.
func Listed(rows []Row) (gpus []device.GPU) {
	for _, r := range rows {
		if !slices.Contains(gpus, r.GPU) {
			gpus = append(gpus, r.GPU)
		}
	}
	return gpus
}

// Whole reports whether the rows name each GPU: a second round has begun, or nothing follows.
func Whole(rows []Row) bool {
	return len(rows) > 1 && slices.ContainsFunc(rows[1:], func(r Row) bool { return r.GPU == rows[0].GPU })
}

func (h *Host) ended() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.trouble != ""
}

func (h *Host) fail(trouble string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.trouble = trouble
}

// add keeps a row that a reader wants, and reports whether there is room for another one.
func (h *Host) add(r Row) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.rows) < maxRows && len(h.readers) > 0 {
		h.rows = append(h.rows, r)
	}
	return len(h.rows) < maxRows
}
