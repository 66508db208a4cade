package artifact

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/flate"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
)

// inflate writes the contents of an entry and holds them to what the headers
// say. What it has written by the time of an error is of no use.
func (a *archive) inflate(e *entry, w io.Writer) error {
	packed := bufio.NewReader(io.NewSectionReader(a.r, e.data, e.packed))
	var contents io.Reader = packed
	if e.method == deflated {
		contents = flate.NewReader(packed) // takes no byte more of a ByteReader than it needs
	}
	out := &counter{archive: a, entry: e, sum: crc32.NewIEEE(), to: w}
	if _, err := io.Copy(out, contents); err != nil {
		return cmp.Or(out.failed, e.damaged(err))
	}
	if _, err := packed.ReadByte(); err != io.EOF {
		return e.refusef("has data after its contents: %s", next)
	}
	return out.check()
}

// damaged distinguishes contents that cannot be inflated from those that cannot be
// read.
func (e *entry) damaged(err error) error {
	var corrupt flate.CorruptInputError
	if errors.As(err, &corrupt) || errors.Is(err, io.ErrUnexpectedEOF) {
		return e.refusef("is damaged: upload it again")
	}
	return fmt.Errorf("read archive: %w: download it again", err)
}

// counter counts and sums what an entry becomes.
type counter struct {
	*archive
	*entry
	n      int64
	sum    hash.Hash32
	head   []byte
	to     io.Writer
	failed error // of Write
}

func (c *counter) Write(p []byte) (n int, err error) {
	defer func() { c.failed = err }()
	if c.n += int64(len(p)); c.n > c.entry.size {
		return 0, c.refusef("has more bytes than it declares: %s", next)
	}
	if err := c.fits(c.entry, c.n); err != nil {
		return 0, err
	}
	if short := headSize - len(c.head); short > 0 {
		c.head = append(c.head, p[:min(short, len(p))]...)
	}
	c.sum.Write(p)
	if n, err = c.to.Write(p); err != nil {
		err = fmt.Errorf("extract archive: %w: name another folder", err)
	}
	return n, err
}

func (c *counter) check() error {
	switch {
	case c.n != c.entry.size:
		return c.refusef("has fewer bytes than it declares: %s", next)
	case c.sum.Sum32() != c.crc:
		return c.refusef("does not have the checksum that it declares: upload it again")
	case packs(c.head):
		return c.refusef("is an archive within the archive: %s", next)
	}
	return nil
}

// headSize is how much of a file shows that it is an archive: tar's mark is the
// last one.
const headSize = 262

// packs reports the first bytes of archives, whatever their name is.
func packs(head []byte) bool {
	for _, magic := range []string{"PK\x03\x04", "PK\x05\x06", "PK\x06\x06", "PK\x07\x08", "\x1f\x8b", "BZh", "\xfd7zXZ\x00", "\x28\xb5\x2f\xfd", "7z\xbc\xaf\x27\x1c", "Rar!"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return len(head) >= headSize && bytes.HasPrefix(head[257:], []byte("ustar"))
}
