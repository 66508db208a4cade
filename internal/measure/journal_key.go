package measure

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/accelgate/accelgate/internal/atomicfile"
)

// keySize is the size in bytes of the key that signs journals.
const keySize = 32

// journalKey returns the key that signs the lines of journals. It is kept in the
// user's state folder, so that another checkout or a measured program that only
// writes to its own folder does not have it. Where it cannot be kept, the key is
// one of this process, with which nothing can be resumed; with resume, that is an
// error.
func (e *Env) journalKey(resume bool) ([]byte, error) {
	key, err := e.keptKey()
	if err == nil || resume {
		return key, err
	}
	key = make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	return key, nil
}

func (e *Env) keptKey() ([]byte, error) {
	dir, err := e.stateFolder()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "journal.key")
	key, err := os.ReadFile(path)
	switch {
	case err == nil && len(key) == keySize:
		return key, nil
	case err == nil:
		return nil, fmt.Errorf("the key of journals %s has %d bytes, want %d: remove it, and run without --resume", path, len(key), keySize)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the key of journals: %w: make it readable, or run without --resume", err)
	}
	return newKey(path)
}

// newKey makes a key. Of two processes at once, the later file counts for both.
func newKey(path string) ([]byte, error) {
	key := make([]byte, keySize)
	_, _ = rand.Read(key)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the key of journals: %w: set XDG_STATE_HOME, or run without --resume", err)
	}
	if err := atomicfile.Write(path, key); err != nil {
		return nil, fmt.Errorf("keep the key of journals: %w: set XDG_STATE_HOME, or run without --resume", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, fmt.Errorf("keep the key of journals: %w: run without --resume", err)
	}
	kept, err := os.ReadFile(path)
	if err != nil || len(kept) != keySize {
		return nil, errors.Join(fmt.Errorf("the key of journals %s was not kept: run without --resume", path), err)
	}
	return bytes.Clone(kept), nil
}

// stateFolder is where the user's programs keep their state.
func (e *Env) stateFolder() (string, error) {
	if dir := e.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "accelgate"), nil
	}
	if runtime.GOOS == "windows" {
		if dir := e.Getenv("LocalAppData"); dir != "" {
			return filepath.Join(dir, "accelgate"), nil
		}
	}
	home := e.Getenv("HOME")
	if home == "" {
		return "", errors.New("the user has no state folder: set XDG_STATE_HOME or HOME, or run without --resume")
	}
	return filepath.Join(home, ".local", "state", "accelgate"), nil
}
