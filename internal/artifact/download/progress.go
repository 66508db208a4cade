package download

import (
	"fmt"
	"io"

	"github.com/accelgate/accelgate/internal/text"
)

// Follow returns a [Client.Progress] that prints a line for each tenth of a call.
func Follow(w io.Writer) func(Progress) {
	var last int64 = -1
	return func(p Progress) {
		const step = 10 // percent
		if p.TotalBytes <= 0 {
			return
		}
		if now := 100 * p.Done / p.TotalBytes / step; now != last {
			last = now
			fmt.Fprintf(w, "get %s: %d %% of %d MiB\n", text.OneLine(p.File), 100*p.Done/p.TotalBytes, (p.TotalBytes+1<<20-1)>>20)
		}
	}
}
