// Package safetensors reads and writes files of tensors in Hugging Face's
// format (github.com/huggingface/safetensors): the length of a header in eight
// bytes, little endian; the header, a JSON object that gives for each name the
// number format, the shape and the place of the data; the data.
//
// The reader takes bytes from anyone. Like the original it refuses sizes that
// contradict each other, data that overlaps or that no tensor owns, and names
// that occur twice. Its limit for the header is smaller, and a tensor of a format
// that it does not support keeps only that tensor from being read.
package safetensors

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/accelgate/accelgate/internal/tensor"
)

// MaxHeader is the largest header that is read, in bytes. It is enough for
// some ten thousand tensors; the original allows 100 MB, which as JSON would take
// a gigabyte to read.
const MaxHeader = 1 << 20

const lengthSize = 8 // bytes, of the header's length

// File is a safetensors file. Its methods may be called concurrently, but for
// Close.
type File struct {
	tensors header
	unmap   func() error
}

// Parse reads a file from memory. The tensors alias data.
func Parse(data []byte) (*File, error) {
	header, data, err := split(data)
	if err != nil {
		return nil, err
	}
	h, err := parseHeader(header)
	if err != nil {
		return nil, err
	}
	if err := h.place(data); err != nil {
		return nil, err
	}
	return &File{tensors: h}, nil
}

// Names returns the names of all tensors, sorted.
func (f *File) Names() []string { return slices.Sorted(maps.Keys(f.tensors)) }

// Tensor returns a tensor, which is valid. Its Data aliases the file until
// Close and may not be written. A number format that no kernel definition uses
// is an error, and so is a name that is not there.
//
// Numbers of four bits are Uint8, two per byte, unless the file calls them F4:
// callers with such numbers call [tensor.Tensor.AsFloat4].
func (f *File) Tensor(name string) (tensor.Tensor, error) {
	e, ok := f.tensors[name]
	switch {
	case f.tensors == nil:
		return tensor.Tensor{}, errors.New("the file is closed: read its tensors before")
	case !ok:
		return tensor.Tensor{}, fmt.Errorf("no tensor %.80q: the file has %s", name, some(f.Names()))
	case !e.DType.Valid():
		return tensor.Tensor{}, fmt.Errorf(
			"tensor %.80q has the number format %.20q, which no kernel definition uses: save it in another one", name, e.format)
	}
	return e.Tensor, nil
}

// Close gives the file back; the data of its tensors must no longer be used.
// It does nothing the second time.
func (f *File) Close() error {
	unmap := f.unmap
	f.tensors, f.unmap = nil, nil
	if unmap == nil {
		return nil
	}
	return unmap()
}

// some quotes the first names.
func some(names []string) string {
	if len(names) > 8 {
		return fmt.Sprintf("%.40q and %d more", names[:8], len(names)-8)
	}
	return fmt.Sprintf("%.40q", names)
}
