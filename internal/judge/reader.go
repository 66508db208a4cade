package judge

import (
	"bytes"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/reference/history"
)

// Reader is the command that reads a file which accelgate wrote, such as "baseline show";
// "" for other files.
func Reader(path string, data []byte) string {
	_, isHistory := history.Label(path)
	switch {
	case isHistory:
		return "history"
	case !bytes.HasPrefix(bytes.TrimSpace(data[:min(len(data), 1024)]), []byte("{")):
		return ""
	}
	if _, err := bench.DecodeRun(data); err == nil {
		return "report"
	}
	if f, err := baseline.Parse(path, data); err == nil && f.HostLabel != "" { // which reads much that is none
		return "baseline show"
	}
	return ""
}
