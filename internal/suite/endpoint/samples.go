package endpoint

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
)

// keepSamples writes what the numbers were computed from beside the run
// document, and names it in the result by its digest.
func (m *measurement) keepSamples(result *bench.Result) error {
	if m.env.Files == "" {
		return nil
	}
	return saveSamples(m.env.Files, samplesName(m.name, m.point.String(), m.epoch), m.seen.observations, result)
}

func saveSamples(dir, name string, observations []latency.Observation, result *bench.Result) error {
	if len(observations) == 0 {
		return nil
	}
	sum := sha256.New()
	err := atomicfile.WriteFrom(filepath.Join(dir, name), func(file io.Writer) error {
		w := bufio.NewWriterSize(io.MultiWriter(file, sum), 1<<16)
		if err := latency.WriteSamples(w, observations); err != nil {
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

// samplesName names the file of a measurement's samples, for any file system.
// Rounds of one cell differ by when they began.
func samplesName(suite, load string, began time.Time) string {
	plain := func(r rune) rune {
		if r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '.' || r == '_' {
			return r
		}
		return '-'
	}
	return fmt.Sprintf("samples-%.80s-%.40s-%d.jsonl", strings.Map(plain, suite), strings.Map(plain, load), began.UnixMilli())
}
