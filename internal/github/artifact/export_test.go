package artifact

import (
	"bytes"
	"io"
)

// File is a file of an archive.
type File struct {
	Name string
	Data []byte
}

// Read returns the files of an archive of size bytes, in its order, at least
// one. The error is a [Refusal], or that of r.
func Read(r io.ReaderAt, size int64, o Options) ([]File, error) {
	a, err := open(r, size, o)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, e := range a.files() {
		var data bytes.Buffer
		data.Grow(int(e.size)) // at most Ratio times what is there
		if err := a.inflate(e, &data); err != nil {
			return nil, err
		}
		files = append(files, File{Name: e.name, Data: data.Bytes()})
	}
	return files, nil
}
