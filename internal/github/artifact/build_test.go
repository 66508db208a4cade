package artifact_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
)

// item is one entry of an archive that a test builds byte by byte, because no
// writer of archives makes the ones that matter here.
type item struct {
	name   string
	data   string
	stored bool
	packed []byte // in place of what data deflates to
	extra  []byte // in both headers

	localName      string // in the local header, in place of name
	attributes     uint32
	comment        string
	local, central func(header []byte)     // change a header before it is written
	descriptor     func(record []byte)     // adds one, and may change it
	gap            string                  // bytes before the entry
	at             func(own uint32) uint32 // offset in the directory, of the one where the entry is
}

// built is an archive in the making.
type built struct {
	items                  []item
	before, between, after string
	end                    func(record []byte)
	locator                bool
}

func archive(items ...item) []byte { return built{items: items}.bytes() }

// runOnly is an archive of one run.json, which is accepted.
func runOnly(data string) []byte { return archive(item{name: "run.json", data: data}) }

func (b built) bytes() []byte {
	var out, directory bytes.Buffer
	out.WriteString(b.before)
	for _, it := range b.items {
		out.WriteString(it.gap)
		directory.Write(it.write(&out))
	}
	out.WriteString(b.between)
	offset := uint32(out.Len())
	out.Write(directory.Bytes())
	if b.locator {
		out.Write(append(number(4, 0x07064b50), make([]byte, 16)...))
	}
	end := concat(number(4, 0x06054b50), number(4, 0), number(2, len(b.items)), number(2, len(b.items)), number(4, directory.Len()), number(4, int(offset)), number(2, 0))
	if b.end != nil {
		b.end(end)
	}
	out.Write(end)
	out.WriteString(b.after)
	return out.Bytes()
}

// write writes the local header and the contents, and returns the header of the
// directory.
func (it item) write(out *bytes.Buffer) []byte {
	own := uint32(out.Len())
	method, packed := 8, it.packed
	if it.stored {
		method = 0
	}
	if packed == nil {
		packed = it.pack()
	}
	flags := 0
	if it.descriptor != nil {
		flags = 8
	}
	sums := concat(number(4, int(crc32.ChecksumIEEE([]byte(it.data)))), number(4, len(packed)), number(4, len(it.data)))
	form := concat(number(2, 20), number(2, flags), number(2, method), number(4, 0), sums)
	name := it.name
	if it.localName != "" {
		name = it.localName
	}
	local := concat(number(4, 0x04034b50), form, number(2, len(name)), number(2, len(it.extra)), []byte(name), it.extra)
	if it.descriptor != nil {
		clear(local[14:26])
	}
	if it.local != nil {
		it.local(local)
	}
	out.Write(local)
	out.Write(packed)
	if it.descriptor != nil {
		record := concat(number(4, 0x08074b50), sums)
		it.descriptor(record)
		out.Write(record)
	}
	if it.at != nil {
		own = it.at(own)
	}
	central := concat(number(4, 0x02014b50), number(2, 3<<8|20), form, number(2, len(it.name)), number(2, len(it.extra)), number(2, len(it.comment)),
		number(4, 0), number(4, int(it.attributes)), number(4, int(own)), []byte(it.name), it.extra, []byte(it.comment))
	if it.central != nil {
		it.central(central)
	}
	return central
}

func (it item) pack() []byte {
	if it.stored {
		return []byte(it.data)
	}
	return deflate(it.data)
}

func deflate(s string) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		panic(err)
	}
	w.Write([]byte(s))
	w.Close()
	return b.Bytes()
}

// number writes a little-endian number of so many bytes.
func number(bytes, value int) []byte {
	return binary.LittleEndian.AppendUint64(nil, uint64(value))[:bytes]
}

func concat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// put overwrites a number in a header.
func put(offset, bytes, value int) func([]byte) {
	return func(header []byte) { copy(header[offset:], number(bytes, value)) }
}

func keep([]byte) {}
