package device

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/gofrs/flock"

	"github.com/accelgate/accelgate/internal/text"
)

// leaseFile is a locked file. Its lock is the lease; its text only tells
// others whose it is. The file stays when the lease ends: a file that is
// removed while another job waits for it would be locked by both of two.
//
// Windows keeps others from reading what is locked, which is the first byte,
// so the text begins at the second.
type leaseFile struct {
	lock *flock.Flock
	text *os.File
}

const (
	leaseMode = 0o666
	textStart = 1
	maxLease  = 4 << 10 // bytes of a text
)

// tryLease locks a file if it can, against all others or those that do not share it, and else returns nil and what its text
// says. The folder is open to all users, so what is found there is not taken
// for a lease file before it proves to be one.
func tryLease(path string, shared bool) (*leaseFile, Holder, error) {
	text, err := openLease(path)
	if err != nil {
		return nil, Holder{}, err
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDWR|noFollow), flock.SetPermissions(leaseMode))
	try := lock.TryLock
	if shared {
		try = lock.TryRLock
	}
	locked, err := try()
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed since
		err = nil
	case err != nil:
	case !locked:
		holder := readHolder(text)
		text.Close()
		return nil, holder, nil
	case current(path, lock, text):
		return &leaseFile{lock, text}, Holder{}, nil
	default: // replaced since: the next job would lock another file
		_ = lock.Unlock()
	}
	text.Close()
	return nil, Holder{}, err
}

// current reports whether the locked file and the one with the text are the
// one that other jobs find.
func current(path string, lock *flock.Flock, text *os.File) bool {
	locked, err1 := lock.Stat()
	opened, err2 := text.Stat()
	found, err3 := os.Lstat(path)
	return errors.Join(err1, err2, err3) == nil && os.SameFile(locked, opened) && os.SameFile(opened, found)
}

// openLease opens the file, or makes it. It opens without O_CREATE first:
// with fs.protected_regular Linux refuses O_CREATE for another user's file in
// a folder that is open to all.
func openLease(path string) (*os.File, error) {
	for range 3 {
		file, err := openExisting(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
		file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, leaseMode)
		if err == nil {
			_ = file.Chmod(leaseMode) // the umask; some file systems have no modes
			_, _ = file.WriteString("\n")
			return file, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("%w: choose a folder for lease files that this user may write to", err)
		}
	}
	return nil, errors.New("its lease file vanishes again and again: choose a folder that is not cleaned up")
}

// openExisting opens a regular file, which must have no other name: a hostile
// user could link a file of another user here, to have it overwritten.
func openExisting(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, notALease(path)
	}
	file, err := os.OpenFile(path, os.O_RDWR|noFollow, 0)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("%w: have its owner remove it or make it writable for all", err)
	}
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err != nil || !info.Mode().IsRegular() || links(info) > 1 {
		file.Close()
		return nil, notALease(path)
	}
	return file, nil
}

func notALease(path string) error {
	return fmt.Errorf("%s is not a lease file, but a link or something else: remove it", text.Quote(path, 80))
}

// write records who holds the lease. Where that fails, as on a full disk,
// the lease holds all the same; truncating keeps the last holder from being
// taken for this one.
func (f *leaseFile) write(h Holder) {
	doc, err := json.Marshal(leaseText{h.PID, clean(h.Name), clean(h.Job), h.Since.UTC().Format(time.RFC3339)})
	if f.text.Truncate(textStart) == nil && err == nil {
		_, _ = f.text.WriteAt(append(doc, '\n'), textStart)
	}
}

func (f *leaseFile) release() {
	_ = f.text.Truncate(textStart)
	_ = f.lock.Unlock()
	f.text.Close()
}

// leaseText is the JSON in a lease file.
type leaseText struct {
	PID    int    `json:"pid"`
	Holder string `json:"holder,omitempty"`
	Job    string `json:"job,omitempty"`
	Since  string `json:"since"`
}

// readHolder returns what the text says, and the zero Holder where it is not
// what write writes: anybody may write to the file.
func readHolder(r io.ReaderAt) Holder {
	doc, err := io.ReadAll(io.NewSectionReader(r, textStart, maxLease))
	if err != nil {
		return Holder{}
	}
	return parseHolder(doc)
}

func parseHolder(doc []byte) Holder {
	var text leaseText
	if json.Unmarshal(doc, &text) != nil {
		return Holder{}
	}
	h := Holder{PID: text.PID, Name: clean(text.Holder), Job: clean(text.Job)}
	if h.PID < 0 || h.PID > math.MaxInt32 {
		h.PID = 0
	}
	if since, err := time.Parse(time.RFC3339, text.Since); err == nil && since.Year() >= 2000 && since.Year() < 10000 {
		h.Since = since.UTC()
	}
	return h
}
