package artifact

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Sizes of the format's records without their variable parts.
const (
	endSize        = 22
	locatorSize    = 20
	centralSize    = 46
	localSize      = 30
	descriptorSize = 16
)

// The signatures of the records.
const (
	endSignature        = 0x06054b50
	locatorSignature    = 0x07064b50 // of zip64
	centralSignature    = 0x02014b50
	localSignature      = 0x04034b50
	descriptorSignature = 0x08074b50
)

// maxExtra bounds the extra fields of an entry: those that are known have at
// most 36 bytes each.
const maxExtra = 128

var order = binary.LittleEndian

// directory reads the end record and the central directory.
func (a *archive) directory(size int64) error {
	switch {
	case size > a.limits.Archive:
		return refusef("it has more than %d bytes: give each shard an artifact of its own", a.limits.Archive)
	case size < endSize:
		return refusef("it is not a zip archive: %s", next)
	}
	end, err := a.at(size-endSize, endSize)
	if err != nil {
		return err
	}
	if order.Uint32(end) != endSignature {
		return refusef("it does not end as a zip archive does, so it was cut short, or data follows it: %s", next)
	}
	count, length, offset := order.Uint16(end[10:]), int64(order.Uint32(end[12:])), int64(order.Uint32(end[16:]))
	if err := a.zip64(size, count, length, offset); err != nil {
		return err
	}
	switch {
	case order.Uint16(end[4:]) != 0 || order.Uint16(end[6:]) != 0 || order.Uint16(end[8:]) != count:
		return refusef("it is one part of several: %s", next)
	case order.Uint16(end[20:]) != 0:
		return refusef("it has a comment: %s", next)
	case int(count) > a.limits.Entries:
		return refusef("it has %d entries, more than %d: %s", count, a.limits.Entries, next)
	case offset+length != size-endSize:
		return refusef("data stands before, between or after its parts: %s", next)
	case length > int64(count)*int64(centralSize+a.limits.Name+maxExtra):
		return refusef("its directory has %d bytes for %d entries: %s", length, count, next)
	}
	a.size, a.end = size-endSize, offset
	return a.centrals(int(count), length)
}

// zip64 refuses the extension for archives that no limit lets pass anyway:
// readers disagree on which of its numbers count.
func (a *archive) zip64(size int64, count uint16, length, offset int64) error {
	used := count == math.MaxUint16 || length == math.MaxUint32 || offset == math.MaxUint32
	if size >= endSize+locatorSize {
		locator, err := a.at(size-endSize-locatorSize, locatorSize)
		if err != nil {
			return err
		}
		used = used || order.Uint32(locator) == locatorSignature
	}
	if used {
		return errZip64()
	}
	return nil
}

func errZip64() error {
	return refusef("it uses zip64, which only archives over 4 GiB need: %s", next)
}

// centrals reads the headers of the central directory, which fill it.
func (a *archive) centrals(count int, length int64) error {
	directory, err := a.at(a.end, length)
	if err != nil {
		return err
	}
	for i := range count {
		e, rest, err := central(i+1, directory, a.limits.Name)
		if err != nil {
			return err
		}
		a.entries, directory = append(a.entries, e), rest
	}
	if len(directory) > 0 {
		return refusef("its directory holds more than its %d entries: %s", count, next)
	}
	return nil
}

// locals checks that the entries follow each other from the first byte to the
// directory, and that their own headers say what the directory says.
func (a *archive) locals() error {
	var at int64
	for i := range a.entries {
		e := &a.entries[i]
		if e.offset != at {
			return e.refusef("overlaps another one, or data stands before it: %s", next)
		}
		var err error
		if at, err = a.local(e); err != nil {
			return err
		}
		if at > a.end {
			return e.refusef("reaches into the directory: %s", next)
		}
	}
	if at != a.end {
		return refusef("data stands between its last entry and its directory: %s", next)
	}
	return nil
}

// at reads n bytes at an offset, both within the archive.
func (a *archive) at(offset, n int64) ([]byte, error) {
	data := make([]byte, n)
	if read, err := a.r.ReadAt(data, offset); err != nil && !(err == io.EOF && int64(read) == n) {
		return nil, fmt.Errorf("read archive: %w: download it again", err)
	}
	return data, nil
}

// inside is at for what may reach over the end of the entries.
func (a *archive) inside(e *entry, offset, n int64) ([]byte, error) {
	if offset+n > a.end {
		return nil, e.refusef("reaches into the directory: %s", next)
	}
	return a.at(offset, n)
}
