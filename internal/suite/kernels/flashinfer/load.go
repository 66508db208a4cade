package flashinfer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// The limits of the input. Upstream cuts a log after 5 MiB, and keeps one
// in each line.
const (
	maxFiles       = 200_000
	maxFileBytes   = 16 << 20  // of a definition or solution
	maxLinesBytes  = 512 << 20 // of a workload or trace file
	maxLineBytes   = 32 << 20
	maxFolderDepth = 20
)

// file is a file of a dataset and what it holds.
type file struct {
	folder string // the one directly below the root
	name   string // below the root, with slashes
	path   string // for people

	definition *Definition
	solution   *Solution
	traces     []*Trace
	lines      map[string]int
	problems   Problems
	warnings   Problems
}

// list returns the files of a dataset, definitions first, each folder in the
// order of paths.
func list(dir *os.Root) (files []file, err error) {
	for _, folder := range []struct{ name, ending string }{
		{definitionsFolder, ".json"}, {solutionsFolder, ".json"}, {workloadsFolder, ".jsonl"}, {tracesFolder, ".jsonl"},
	} {
		err := fs.WalkDir(dir.FS(), folder.name, func(name string, e fs.DirEntry, err error) error {
			switch {
			case err != nil && name == folder.name && errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case strings.Count(name, "/") > maxFolderDepth:
				return errors.New("folders nest too deep")
			case len(files) == maxFiles:
				return fmt.Errorf("more than %d files", maxFiles)
			case !e.IsDir() && strings.HasSuffix(name, folder.ending):
				files = append(files, file{folder: folder.name, name: name})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// readAll reads the files on all processors.
func readAll(dir *os.Root, root string, files []file) {
	var taken atomic.Int64
	var readers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		readers.Go(func() {
			for i := taken.Add(1) - 1; i < int64(len(files)); i = taken.Add(1) - 1 {
				files[i].path = path.Join(root, files[i].name)
				files[i].read(dir)
			}
		})
	}
	readers.Wait()
}

func (f *file) read(dir *os.Root) {
	r := reader{path: f.path}
	limit := maxFileBytes
	if f.folder == workloadsFolder || f.folder == tracesFolder {
		limit = maxLinesBytes
	}
	text, err := readFile(dir, f.name, limit)
	switch {
	case err != nil:
		r.fail(value{}, "", "cannot be read (%s); put a readable file of at most %d bytes here", plain(cause(err)), limit)
	case limit == maxLinesBytes:
		f.readLines(&r, text)
	default:
		r.lines = map[string]int{}
		root, ok := r.document(text)
		if ok && f.folder == definitionsFolder {
			f.definition = r.definition(root)
		} else if ok {
			f.solution = r.solution(root)
		}
		if r.count > 0 {
			f.definition, f.solution = nil, nil
		}
		f.lines = r.lines
	}
	f.problems = r.finish()
}

// openFile opens an ordinary file, which may be behind a link that does not leave
// the root. Opening anything else could wait for ever.
func openFile(dir *os.Root, name string) (in *os.File, size int64, err error) {
	info, err := dir.Stat(name)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errors.New("it is not an ordinary file")
	}
	in, err = dir.Open(name)
	return in, info.Size(), err
}

// readFile returns the content of an ordinary file, see openFile.
func readFile(dir *os.Root, name string, limit int) ([]byte, error) {
	in, size, err := openFile(dir, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var text bytes.Buffer
	text.Grow(int(min(size, int64(limit))) + bytes.MinRead)
	if _, err := text.ReadFrom(io.LimitReader(in, int64(limit)+1)); err != nil {
		return nil, err
	}
	if text.Len() > limit {
		return nil, errors.New("it is too large")
	}
	return text.Bytes(), nil
}

// readLines reads one trace per line. Blank lines are nothing.
func (f *file) readLines(r *reader, text []byte) {
	for line := 1; len(text) > 0; line++ {
		one, rest, ended := bytes.Cut(text, newline)
		text = rest
		if len(bytes.TrimSpace(one)) == 0 {
			continue
		}
		at := value{Line: line}
		if len(one) > maxLineBytes {
			r.fail(at, "", "is longer than %d bytes; cut the log", maxLineBytes)
			continue
		}
		root, err := parse(one, line)
		switch {
		case err != nil && err.cutOff && !ended && f.folder == tracesFolder:
			const message = "the last line is cut off and was left out; the next result that is appended removes it"
			f.warnings = append(f.warnings, Problem{Place{f.path, line}, "", message})
		case err != nil:
			r.fail(at, "", "%s", err.message)
		default:
			f.readLine(r, root)
		}
	}
}

func (f *file) readLine(r *reader, root value) {
	before := r.count
	t := r.trace(root)
	switch result := t.Evaluation != nil; {
	case r.count > before:
		return
	case result && f.folder == workloadsFolder:
		r.fail(root, "evaluation",
			"a workload has no result; write null for solution and evaluation, or move the line to a file below traces")
	case !result && f.folder == tracesFolder:
		r.fail(root, "evaluation", "a trace needs a result; move the line to a file below workloads")
	default:
		f.traces = append(f.traces, t)
	}
}
