package artifact

import (
	"slices"
	"strings"
)

// entry is one file or folder by its header in the central directory.
type entry struct {
	number        int // from 1
	name          string
	folder        bool
	flags, method uint16
	crc           uint32
	packed, size  int64 // bytes in the archive, and what the header says that they become
	offset        int64 // of the local header
	data          int64 // offset of the contents, once the local header was read
}

// The methods and flags of the format that are read.
const (
	stored   = 0
	deflated = 8

	flagDescriptor = 1 << 3
	flagUTF8       = 1 << 11
	// flagLevels say how hard the compressor tried.
	flagLevels = 1<<1 | 1<<2
	// flagsEncrypted are of the traditional, the strong and the masked form.
	flagsEncrypted = 1<<0 | 1<<6 | 1<<13
)

// Bits of an entry's attributes: a Unix mode above, a DOS byte below.
const (
	modeType, modeRegular, modeFolder = 0o170000, 0o100000, 0o040000
	modeSpecial                       = 0o7000 // set-user-id, set-group-id, sticky
	dosVolume, dosFolder              = 0x08, 0x10
	dosLink                           = 0x400 // a reparse point
)

// newestVersion is that of deflated entries and folders; zip64 needs 4.5.
const newestVersion = 20

// central reads the first header of a directory and returns what follows it.
func central(number int, b []byte, maxName int) (e entry, rest []byte, err error) {
	e.number = number
	if len(b) < centralSize || order.Uint32(b) != centralSignature {
		return e, nil, refusef("entry %d is not in its directory: %s", number, next)
	}
	name, extra, comment := int(order.Uint16(b[28:])), int(order.Uint16(b[30:])), int(order.Uint16(b[32:]))
	end := centralSize + name + extra + comment
	if end > len(b) {
		return e, nil, refusef("entry %d reaches over the end of the directory: %s", number, next)
	}
	e.name = string(b[centralSize : centralSize+name])
	e.folder = strings.HasSuffix(e.name, "/")
	e.flags, e.method, e.crc = order.Uint16(b[8:]), order.Uint16(b[10:]), order.Uint32(b[16:])
	e.packed, e.size, e.offset = int64(order.Uint32(b[20:])), int64(order.Uint32(b[24:])), int64(order.Uint32(b[42:]))
	switch {
	case name > maxName:
		return e, nil, e.refusef("has a name of more than %d bytes: %s", maxName, next)
	case comment > 0:
		return e, nil, e.refusef("has a comment: %s", next)
	case order.Uint16(b[34:]) != 0:
		return e, nil, e.refusef("is on another disk: %s", next)
	}
	if err := e.form(order.Uint16(b[6:])); err != nil {
		return e, nil, err
	}
	if err := e.mode(order.Uint32(b[38:])); err != nil {
		return e, nil, err
	}
	return e, b[end:], e.extra(b[centralSize+name : centralSize+name+extra])
}

// form refuses what the contents cannot be read by.
func (e *entry) form(version uint16) error {
	switch {
	case e.flags&flagsEncrypted != 0:
		return e.refusef("is encrypted: %s", next)
	case e.flags&^(flagLevels|flagDescriptor|flagUTF8) != 0:
		return e.refusef("has the flags %#04x, of which some are not known: %s", e.flags, next)
	case e.method != stored && e.method != deflated:
		return e.refusef("is compressed by method %d: %s", e.method, next)
	case e.packed == maxUint32 || e.size == maxUint32 || e.offset == maxUint32:
		return errZip64()
	case version > newestVersion:
		return e.refusef("needs version %d.%d of the format: %s", version/10, version%10, next)
	case e.method == stored && e.packed != e.size:
		return e.refusef("is stored and has two sizes: %s", next)
	}
	return nil
}

const maxUint32 = 1<<32 - 1

// mode refuses whatever is neither a plain file nor a folder.
func (e *entry) mode(attributes uint32) error {
	mode, want := attributes>>16, uint32(modeRegular)
	if e.folder {
		want = modeFolder
	}
	switch kind := mode & modeType; {
	case kind == 0o120000 || attributes&dosLink != 0:
		return e.refusef("is a link: %s", next)
	case kind != 0 && kind != want || attributes&dosVolume != 0 || attributes&dosFolder != 0 && !e.folder:
		return e.refusef("is not a plain file: %s", next)
	case mode&modeSpecial != 0:
		return e.refusef("has the special mode %04o: %s", mode&0o7777, next)
	}
	return nil
}

// harmless are the extra fields that change nothing of an entry: times and
// owners. Others could give it another name or size.
var harmless = []uint16{
	0x000a, // times of NTFS
	0x5455, // times of Unix
	0x5855, // the same, older
	0x7875, // owners
}

func (e *entry) extra(b []byte) error {
	if len(b) > maxExtra {
		return e.refusef("has %d bytes of extra fields: %s", len(b), next)
	}
	for len(b) > 0 {
		if len(b) < 4 || int(order.Uint16(b[2:])) > len(b)-4 {
			return e.refusef("has an extra field that is cut short: %s", next)
		}
		switch id := order.Uint16(b); {
		case id == 1:
			return errZip64()
		case !slices.Contains(harmless, id):
			return e.refusef("has the extra field %#04x: %s", id, next)
		}
		b = b[4+order.Uint16(b[2:]):]
	}
	return nil
}

// local reads the header before an entry's contents, which repeats the central
// one, and returns where the entry ends.
func (a *archive) local(e *entry) (end int64, err error) {
	b, err := a.inside(e, e.offset, localSize)
	if err != nil {
		return 0, err
	}
	if order.Uint32(b) != localSignature {
		return 0, e.refusef("has no header of its own: %s", next)
	}
	name, extra := int64(order.Uint16(b[26:])), int64(order.Uint16(b[28:]))
	variable, err := a.inside(e, e.offset+localSize, name+extra)
	if err != nil {
		return 0, err
	}
	e.data = e.offset + localSize + name + extra
	sums := [3]int64{int64(order.Uint32(b[14:])), int64(order.Uint32(b[18:])), int64(order.Uint32(b[22:]))}
	deferred := e.flags&flagDescriptor != 0 && sums == [3]int64{}
	if string(variable[:name]) != e.name || order.Uint16(b[6:]) != e.flags || order.Uint16(b[8:]) != e.method ||
		sums != e.sums() && !deferred {
		return 0, e.refusef("is another one in its own header than in the directory: %s", next)
	}
	if err := e.form(order.Uint16(b[4:])); err != nil {
		return 0, err
	}
	if err := e.extra(variable[name:]); err != nil {
		return 0, err
	}
	return a.descriptor(e, e.data+e.packed)
}

// descriptor checks the record after the contents, where there is one.
func (a *archive) descriptor(e *entry, at int64) (end int64, err error) {
	if e.flags&flagDescriptor == 0 {
		return at, nil
	}
	b, err := a.inside(e, at, descriptorSize)
	if err != nil {
		return 0, err
	}
	if order.Uint32(b) != descriptorSignature ||
		e.sums() != [3]int64{int64(order.Uint32(b[4:])), int64(order.Uint32(b[8:])), int64(order.Uint32(b[12:]))} {
		return 0, e.refusef("is followed by a descriptor that contradicts the directory: %s", next)
	}
	return at + descriptorSize, nil
}

func (e *entry) sums() [3]int64 { return [3]int64{int64(e.crc), e.packed, e.size} }
