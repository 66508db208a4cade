package endpoint

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
)

// keepSamples writes what the numbers were computed from beside the run
// document, and names it in the result by its digest.
func (m *measurement) keepSamples(result *bench.Result) error {
	if m.env.Files == "" || len(m.seen.observations) == 0 {
		return nil
	}
	name, sum := m.samplesName(), sha256.New()
	err := atomicfile.WriteFrom(filepath.Join(m.env.Files, name), func(file io.Writer) error {
		w := bufio.NewWriterSize(io.MultiWriter(file, sum), 1<<16)
		if err := latency.WriteSamples(w, m.seen.observations); err != nil {
			return err
		}
		return w.Flush()
	})
	if err != nil {
		return err
	}
	result.Files = []bench.File{{Name: name, SHA256: hex.EncodeToString(sum.Sum(nil))}}
	return nil
}
