package flashinfer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/accelgate/accelgate/internal/atomicfile"
)

// Compacted describes what [Dedupe] did.
type Compacted struct {
	Kept, Dropped int   // lines
	Cut           int64 // bytes of an unfinished last line
}

// Dedupe keeps the last line of each case of a trace file, in order and byte
// for byte; see [Trace.Case]. Blank lines and an unfinished last line go. A file
// with nothing to drop is not written, and with dry none is. An error of type [Problems] says which
// lines cannot be read; the file is then untouched. A link is refused.
func Dedupe(path string, dry bool) (Compacted, error) {
	text, err := readTraces(path)
	if err != nil {
		return Compacted{}, fmt.Errorf("compact the traces %s: %s; name a trace file that can be read", plain(path), plain(cause(err)))
	}
	c := compaction{reader: reader{path: filepath.ToSlash(path)}, last: map[Case]int{}}
	for number, rest := 1, text; len(rest) > 0; number++ {
		line, after, ended := bytes.Cut(rest, newline)
		rest = after
		if len(bytes.TrimSpace(line)) > 0 {
			c.take(line, number, ended)
		}
	}
	if err := errorOf(c.finish()); err != nil {
		return Compacted{}, err
	}
	c.done.Kept = len(c.last)
	if dry || c.done.Dropped == 0 && c.done.Cut == 0 {
		return c.done, nil
	}
	return c.done, atomicfile.Write(path, together(c.lines))
}

// CompactedFile is a file of [DedupeAll].
type CompactedFile struct {
	Path string
	Compacted
}

// DedupeAll is [Dedupe] for all trace files, *.jsonl, below a folder: below its
// folder traces if it has one, as a dataset does. A file that cannot be compacted
// keeps none of the others from it; the error is about all such files. It returns
// those that were compacted, in the order of paths.
func DedupeAll(root string, dry bool) (files []CompactedFile, err error) {
	if info, err := os.Lstat(filepath.Join(root, tracesFolder)); err == nil && info.IsDir() {
		root = filepath.Join(root, tracesFolder)
	}
	paths, err := traceFiles(root)
	if err != nil {
		return nil, fmt.Errorf("compact the traces below %s: %s; name a folder that can be read, with no links in it", plain(root),
			plain(cause(err)))
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("compact the traces below %s: it holds no *.jsonl; name a dataset, or a folder of its traces", plain(root))
	}
	var errs []error
	for _, path := range paths {
		done, err := Dedupe(path, dry)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		files = append(files, CompactedFile{path, done})
	}
	return files, errors.Join(errs...)
}

// traceFiles lists the trace files below a folder, which may itself be reached by
// a link, but must not lead elsewhere.
func traceFiles(root string) (paths []string, err error) {
	root = filepath.Clean(root)
	err = filepath.WalkDir(root+string(filepath.Separator), func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Type()&fs.ModeSymlink != 0:
			return fmt.Errorf("%s is a link, which is not followed", path)
		case strings.Count(strings.TrimPrefix(path, root), string(filepath.Separator)) > maxFolderDepth:
			return errors.New("folders nest too deep")
		case len(paths) == maxFiles:
			return fmt.Errorf("there are more than %d files", maxFiles)
		case !e.IsDir() && strings.HasSuffix(path, ".jsonl"):
			paths = append(paths, path)
		}
		return nil
	})
	return paths, err
}

// compaction is one file as its lines come.
type compaction struct {
	reader
	done  Compacted
	lines [][]byte     // nil where it was dropped
	last  map[Case]int // the line of a case
}

func (c *compaction) take(line []byte, number int, ended bool) {
	root, problem := parse(line, number)
	switch {
	case problem != nil && problem.cutOff && !ended:
		c.done.Cut = int64(len(line))
		return
	case problem != nil:
		c.fail(value{Line: number}, "", "%s", problem.message)
		return
	}
	before := c.count
	t := c.trace(root)
	if t.Evaluation == nil && c.count == before {
		c.fail(root, "evaluation", "a trace needs a result; move the line to a file below workloads")
	}
	if earlier, known := c.last[t.Case()]; known {
		c.lines[earlier] = nil
		c.done.Dropped++
	}
	c.last[t.Case()] = len(c.lines)
	c.lines = append(c.lines, line)
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
	if _, err := own(dir, filepath.Base(path)); err != nil {
		return nil, err
	}
	return readFile(dir, filepath.Base(path), maxLinesBytes)
}
