package runner

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/gofrs/flock"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/bench"
)

// Entry is one line of a journal.
type Entry struct {
	// Key says what was measured: the revision, the configuration, the command
	// and the host, as one digest. A measurement with another key cannot stand
	// in for a new one.
	Key    string       `json:"key"`
	Round  int          `json:"round"`
	Result bench.Result `json:"result"`
}

// Journal appends measurements to a file, one JSON document a line, so that a
// killed run leaves everything it had finished. A line that was cut off in the
// middle is the last one and holds no newline.
//
// While it is open, it is locked against other processes by a file beside it.
type Journal struct {
	file *os.File
	lock *flock.Flock
	key  []byte
}

// line is an entry as it is written. MAC is the HMAC-SHA256 of the bytes of the
// entry under the user's key: a line that was edited, or written
// without the key, is refused. It does not prove that the measured program told
// the truth, nor protect from who can read the key.
type line struct {
	MAC   string          `json:"mac"`
	Entry json.RawMessage `json:"entry"`
}

func sign(key, entry []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write(entry)
	return hex.EncodeToString(mac.Sum(nil))
}

// lockJournal keeps a second run from writing into the same folder.
func lockJournal(path string) (*flock.Flock, error) {
	if err := atomicfile.MkdirAll(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("create journal: %w", atomicfile.Elsewhere(err, "--out"))
	}
	lock := flock.New(path + ".lock")
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock journal: %w: make the folder writable, or choose another one with --out", err)
	}
	if !locked {
		return nil, fmt.Errorf("another accelgate measures into %s: wait for it, or choose another folder with --out", filepath.Dir(path))
	}
	return lock, nil
}

// CreateJournal starts an empty journal at path, making its folder. The key signs
// its lines.
func CreateJournal(path string, key []byte) (*Journal, error) {
	lock, err := lockJournal(path)
	if err != nil {
		return nil, err
	}
	j, err := createLocked(path)
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	j.lock, j.key = lock, key
	return j, nil
}

func createLocked(path string) (*Journal, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("replace journal: %w: make the folder writable, or choose another one with --out", err)
	}
	// A new file: a link that stood here is replaced and not followed.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create journal: %w: make the folder writable, or choose another one with --out", err)
	}
	return &Journal{file: file}, nil
}

// ContinueJournal reads the journal of an interrupted run and opens it for
// appending; a line that was cut off is removed. Without a journal it starts an
// empty one.
func ContinueJournal(path string, key []byte) (*Journal, []Entry, error) {
	lock, err := lockJournal(path)
	if err != nil {
		return nil, nil, err
	}
	j, entries, err := continueLocked(path, key)
	if err != nil {
		_ = lock.Close()
		return nil, nil, err
	}
	j.lock, j.key = lock, key
	return j, entries, nil
}

func continueLocked(path string, key []byte) (*Journal, []Entry, error) {
	entries, size, err := ReadJournal(path, key)
	if errors.Is(err, os.ErrNotExist) {
		j, err := createLocked(path)
		return j, nil, err
	}
	if err != nil {
		return nil, nil, err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("continue journal: %w: make the file writable, or run without --resume", err)
	}
	if err := file.Truncate(size); err != nil {
		file.Close()
		return nil, nil, fmt.Errorf("continue journal: %w: run without --resume", err)
	}
	return &Journal{file: file}, entries, nil
}

// Append writes one measurement with a single write. It does not sync: the
// page cache outlives a killed process, and waiting for the disk would cost
// more than many a cell.
func (j *Journal) Append(e Entry) error {
	entry, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = j.file.Write(fmt.Appendf(nil, "{\"mac\":%q,\"entry\":%s}\n", sign(j.key, entry), entry))
	return err
}

// Close syncs and closes the file and gives up the lock.
func (j *Journal) Close() error {
	return errors.Join(j.file.Sync(), j.file.Close(), j.lock.Close())
}

// The limits of a journal that is read: it may come from anywhere.
const (
	maxJournal = 1 << 30
	maxLine    = 64 << 20
)

// ReadJournal reads the entries of an interrupted run and tells the size of the
// lines that are whole. The last line may be cut off, and then stands for
// nothing; any other line that cannot be read, or that the key did not sign, is an
// error that names it.
func ReadJournal(path string, key []byte) (entries []Entry, size int64, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxJournal {
		return nil, 0, fmt.Errorf("%s is not a journal: it is not a file, or of more than %d bytes: run without --resume", path, maxJournal)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	if entries, size, err = readEntries(file, key); err != nil {
		return nil, 0, fmt.Errorf("%s:%d: %w: run without --resume", path, len(entries)+1, err)
	}
	return entries, size, nil
}

func readEntries(from io.Reader, key []byte) (entries []Entry, size int64, err error) {
	lines := bufio.NewReaderSize(io.LimitReader(from, maxJournal), 64<<10)
	for {
		text, whole, err := readLine(lines)
		if err != nil || !whole {
			return entries, size, err
		}
		e, err := readEntry(text, key)
		if err != nil {
			return entries, size, err
		}
		entries, size = append(entries, e), size+int64(len(text))+1
	}
}

func readEntry(text, key []byte) (e Entry, err error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return e, err
	}
	if !hmac.Equal([]byte(l.MAC), []byte(sign(key, l.Entry))) {
		return e, errors.New("the line was edited, or another user or accelgate wrote it: its signature is not this user's")
	}
	if err := json.Unmarshal(l.Entry, &e); err != nil {
		return e, err
	}
	return e, e.validate()
}

// readLine returns the next line; whole is false at the end and for a line
// without its newline.
func readLine(r *bufio.Reader) (line []byte, whole bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, false, fmt.Errorf("the line is longer than %d bytes", maxLine)
		case err == nil:
			return bytes.TrimSuffix(line, []byte("\n")), true, nil
		case err == io.EOF:
			return nil, false, nil
		case err != bufio.ErrBufferFull:
			return nil, false, err
		}
	}
}

// validate refuses what no run could have written: a measurement holds one
// value of each metric.
func (e Entry) validate() error {
	if e.Round < 1 || e.Key == "" {
		return errors.New("the entry has no round or no key")
	}
	for _, s := range e.Result.Samples {
		if len(s.Values) != 1 || s.Summary != nil {
			return fmt.Errorf("metric %q has %d values, and a measurement yields one", s.Metric, len(s.Values))
		}
	}
	return e.Result.Validate()
}

// Earlier indexes the measurements of an interrupted run that may stand in for
// new ones: those that passed, by cell and round, of cells that may have passed
// as a whole. A later entry for the same cell and round counts.
func Earlier(entries []Entry) map[string]map[int]Entry {
	index := map[string]map[int]Entry{}
	for _, e := range entries {
		if e.Result.Outcome != bench.Passed {
			continue
		}
		id := e.Result.Cell.ID()
		if index[id] == nil {
			index[id] = map[int]Entry{}
		}
		index[id][e.Round] = e
	}
	maps.DeleteFunc(index, func(_ string, rounds map[int]Entry) bool { return !alike(rounds) })
	return index
}

// alike reports whether all rounds of a cell have the same metrics. If they do
// not, the cell failed as a whole, though each of its measurements passed.
func alike(rounds map[int]Entry) bool {
	var first []string
	for _, e := range rounds {
		var names []string
		for _, s := range e.Result.Samples {
			names = append(names, s.Metric)
		}
		slices.Sort(names)
		if first == nil {
			first = names
		}
		if !slices.Equal(first, names) {
			return false
		}
	}
	return true
}
