package flashinfer

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/atomicfile"
)

// Compacted says what [Dedupe] did.
type Compacted struct {
	Kept, Dropped int   // lines
	Cut           int64 // bytes of an unfinished last line
}

// Dedupe keeps the last line of each case of a trace file, in order and byte
// for byte; see [Trace.Case]. Blank lines and an unfinished last line go. A file
// with nothing to drop is not written. An error of type [Problems] says which
// lines cannot be read; the file is then untouched.
func Dedupe(path string) (Compacted, error) {
	text, err := readTraces(path)
	if err != nil {
		return Compacted{}, fmt.Errorf("compact the traces %s: %s; name a trace file that can be read", plain(path), plain(cause(err)))
	}
	r := reader{path: filepath.ToSlash(path)}
	var done Compacted
	var lines [][]byte
	last := map[Case]int{} // the line of a case
	for number, rest := 1, text; len(rest) > 0; number++ {
		line, after, ended := bytes.Cut(rest, newline)
		rest = after
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		root, problem := parse(line, number)
		switch {
		case problem != nil && problem.cutOff && !ended:
			done.Cut = int64(len(line))
		case problem != nil:
			r.fail(value{line: number}, "", "%s", problem.message)
		default:
			c := r.trace(root).Case()
			if before, known := last[c]; known {
				lines[before] = nil
				done.Dropped++
			}
			last[c] = len(lines)
			lines = append(lines, line)
		}
	}
	if err := r.finish().err(); err != nil {
		return Compacted{}, err
	}
	done.Kept = len(last)
	if done.Dropped == 0 && done.Cut == 0 {
		return done, nil
	}
	return done, atomicfile.Write(path, together(lines))
}

func together(lines [][]byte) []byte {
	var kept bytes.Buffer
	for _, line := range lines {
		if line != nil {
			kept.Write(line)
			kept.WriteByte('\n')
		}
	}
	return kept.Bytes()
}

// readTraces reads a trace file under the same limits as [Load].
func readTraces(path string) ([]byte, error) {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return readFile(dir, filepath.Base(path), maxLinesBytes)
}
