package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

const maxLine = 1 << 12 // bytes of one line

// query is what nvidia-smi is asked for, behind the fields of all drivers.
type query struct {
	reasons string // the field for why clocks are lowered
}

// queries are those of drivers since 535 and before, and of one that reports no reasons.
var queries = []query{{"clocks_event_reasons.active"}, {"clocks_throttle_reasons.active"}, {}}

func (q query) arguments(period time.Duration) []string {
	fields := []string{"timestamp", "index", "uuid"}
	for _, quantity := range Quantities {
		fields = append(fields, quantity.field)
	}
	if q.reasons != "" { // last, because the end of a killed child's last line is cut
		fields = append(fields, q.reasons)
	}
	return []string{"nvidia-smi", "--query-gpu=" + strings.Join(fields, ","), "--format=csv,noheader,nounits",
		fmt.Sprintf("--loop-ms=%d", period.Milliseconds())}
}

// run lets nvidia-smi print rows until ctx is done. One that prints none and ends, as one does that has no field of a name,
// is started again with the next query.
func (h *Host) run(ctx context.Context, period time.Duration) {
	for i, q := range queries {
		resp, rows, err := h.read(ctx, q, period)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, worker.ErrNotFound):
			h.fail("nvidia-smi is not installed: install the driver's tools")
			return
		case resp.End == worker.Cancelled:
			h.fail("more rows of nvidia-smi came than are kept: measure a shorter time")
			return
		case rows == 0 && i < len(queries)-1:
			continue
		}
		reason := strings.TrimPrefix(resp.Reason(), ": ")
		if err != nil {
			reason = text.Plain(err.Error(), 120)
		}
		if words := text.Line(text.LastLine(resp.Log), 120); words != "" {
			reason += ": " + words
		}
		what, fix := "lists no GPU", "run nvidia-smi and repair the driver"
		if rows > 0 {
			what, fix = "ended early", "run it with -q to see what is wrong"
		}
		h.fail(fmt.Sprintf("nvidia-smi %s (%s): %s", what, cmp.Or(strings.TrimPrefix(reason, ": "), "empty list"), fix))
		return
	}
}

// read takes the rows of one nvidia-smi until it ends, ctx is done, or no room is left.
func (h *Host) read(ctx context.Context, q query, period time.Duration) (resp worker.Response, rows int, err error) {
	w := &worker.Isolated{Environ: h.environ, MaxStdout: maxLine}
	p, err := w.Start(worker.Request{Args: q.arguments(period), Env: []string{"TZ=UTC0"}})
	if err != nil {
		return resp, 0, err
	}
	for {
		select {
		case <-ctx.Done():
			resp, err = p.Stop(worker.Cancelled)
			return resp, rows, err
		case line, more := <-p.Lines():
			if !more {
				resp, err = p.Wait(ctx, 0)
				return resp, rows, err
			}
			row, ok := q.parse(string(line.Text), h.now())
			if !ok || line.Cut {
				p.Note(string(line.Text) + "\n")
				continue
			}
			if rows++; !h.add(row) {
				resp, err = p.Stop(worker.Cancelled)
				return resp, rows, err
			}
		}
	}
}
