package casefile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// maxEntries bounds the folder of cases; the real one has 22.
const maxEntries = 10_000

// maxReaders bounds what is in memory of files that are being read: at worst
// 200 MB for each, of a file that is made for it.
const maxReaders = 8

// Load reads all *.json files of a folder, sorted by path, without those of
// its subfolders. Those of a group stand in its order. The cases that are fine are
// returned beside an error that joins what is wrong with the others: [Problems] for each file. A folder
// without any case is an error. Links are not followed.
func Load(dir string) ([]*Case, error) {
	entries, err := caseFiles(dir)
	if err != nil {
		return nil, err
	}
	var cases []*Case
	var errs []error
	owners := map[string]string{} // the file that has a name
	for _, f := range loadAll(dir, entries) {
		if len(f.cases) > 0 && f.cases[0].fileName() != "" {
			path, name := f.cases[0].Path, f.cases[0].fileName()
			if owner, taken := owners[name]; taken {
				f.problems = append(f.problems, Problem{File: path, JSONPath: "name",
					Message: fmt.Sprintf("%s is the name of %s too", quote(name), plain(owner)), Hint: "give each case a name of its own"})
			} else {
				owners[name] = path
			}
		}
		if len(f.problems) > 0 {
			errs = append(errs, f.problems)
			continue
		}
		cases = append(cases, f.cases...)
	}
	return cases, errors.Join(errs...)
}

// loaded is what was read of one file.
type loaded struct {
	cases    []*Case
	problems Problems
}

// loadAll reads the files on several cores, and returns when all are read.
func loadAll(dir string, entries []fs.DirEntry) []loaded {
	files := make([]loaded, len(entries))
	var taken atomic.Int64
	var readers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxReaders, len(entries)) {
		readers.Go(func() {
			var r reader
			for i := taken.Add(1) - 1; i < int64(len(entries)); i = taken.Add(1) - 1 {
				files[i].cases, files[i].problems = r.load(filepath.Join(dir, entries[i].Name()), entries[i])
			}
		})
	}
	readers.Wait()
	return files
}

// caseFiles returns the entries that should be cases.
func caseFiles(dir string) ([]fs.DirEntry, error) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("load cases: %w; name the folder that holds the case files", err)
	}
	defer folder.Close()
	entries, err := folder.ReadDir(maxEntries + 1)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("load cases: %w; name the folder that holds the case files", err)
	case len(entries) > maxEntries:
		return nil, fmt.Errorf("%s: has more than %d entries; name the folder that holds only the case files", plain(dir), maxEntries)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !strings.HasSuffix(e.Name(), ".json") })
	if len(entries) == 0 {
		return nil, fmt.Errorf("%s: holds no *.json file, so there is no case; name the folder that holds the case files", plain(dir))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// load reads one file of a folder.
func (r *reader) load(path string, e fs.DirEntry) ([]*Case, Problems) {
	fail := func(message, hint string) ([]*Case, Problems) {
		return nil, Problems{{File: path, Message: message, Hint: hint}}
	}
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		return fail("is a link, which is not followed", "put the file itself here")
	case !e.Type().IsRegular():
		return fail("is not a file", "move it out of the folder of cases")
	}
	data, err := r.readFile(path, e)
	if err != nil {
		return fail("cannot be read: "+plain(err.Error()), "correct its permissions, or restore it from version control")
	}
	return r.parse(path, data)
}

// readFile returns the content of the file that was listed, up to one byte
// more than a case may have.
func (r *reader) readFile(path string, e fs.DirEntry) ([]byte, error) {
	listed, err := e.Info()
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	opened, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !os.SameFile(listed, opened) {
		return nil, errors.New("it was replaced while it was read")
	}
	r.file.Reset()
	r.file.Grow(int(min(opened.Size(), maxFileSize)) + bytes.MinRead)
	_, err = r.file.ReadFrom(io.LimitReader(file, maxFileSize+1))
	return r.file.Bytes(), err
}
