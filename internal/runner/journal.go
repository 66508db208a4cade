package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/bench"
)

// Journal appends measurements to a file, one JSON document a line, so that a
// killed run leaves everything it had finished. A line that was cut off in the
// middle is the last one and holds no newline.
type Journal struct {
	file *os.File
}

// CreateJournal starts an empty journal at path, making its folder.
func CreateJournal(path string) (*Journal, error) {
	if err := atomicfile.MkdirAll(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("replace journal: %w: make the folder writable, or choose another one with --out", err)
	}
	// A new file: a link that stood here is replaced and not followed.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create journal: %w: make the folder writable, or choose another one with --out", err)
	}
	return &Journal{file: file}, nil
}

// Append writes one measurement with a single write. It does not sync: the
// page cache outlives a killed process, and waiting for the disk would cost
// more than many a cell.
func (j *Journal) Append(r bench.Result) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = j.file.Write(append(line, '\n'))
	return err
}

// Close syncs and closes the file.
func (j *Journal) Close() error {
	if err := j.file.Sync(); err != nil {
		j.file.Close()
		return err
	}
	return j.file.Close()
}
