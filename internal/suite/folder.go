package suite

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/formats"
)

// maxResultFiles bounds the files of a folder of results.
const maxResultFiles = 10_000

// ReadFolder reads the files of a folder that a program was asked to write, with at most limit bytes together; nil where path is
// no folder. The name is what a user calls it, such as {output}.
func ReadFolder(path, name string, limit int64) (files []formats.File, err error) {
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return nil, nil
	}
	files = []formats.File{}
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		inside, err := filepath.Rel(path, file)
		if err != nil {
			return err
		}
		if len(files) == maxResultFiles {
			return fmt.Errorf("%s holds more than %d files: write fewer", name, maxResultFiles)
		}
		inside = filepath.ToSlash(inside)
		data, err := ReadResult(file, name+"/"+inside, limit)
		if limit -= int64(len(data)); err == nil && limit < 0 {
			err = fmt.Errorf("the files in %s are too large together: write less", name)
		}
		files = append(files, formats.File{Name: inside, Data: data})
		return err
	})
	return files, err
}
