package endpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/serving"
)

// keepSamples writes what the numbers were computed from beside the run
// document, and names it in the result by its digest.
func (m *measurement) keepSamples(result *bench.Result) error {
	if m.env.Files == "" || len(m.seen.observations) == 0 {
		return nil
	}
	var data bytes.Buffer
	if err := serving.WriteSamples(&data, m.seen.observations); err != nil {
		return err
	}
	sum := sha256.Sum256(data.Bytes())
	file := bench.File{Name: m.samplesName(result.Cell), SHA256: hex.EncodeToString(sum[:])}
	if err := atomicfile.Write(filepath.Join(m.env.Files, file.Name), data.Bytes()); err != nil {
		return err
	}
	result.Files = []bench.File{file}
	return nil
}
