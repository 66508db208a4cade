package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/exit"
)

// Check refuses to replace files without force: the error names those that exist.
func Check(dir string, files []File, force bool) error {
	var there []string
	for _, f := range files {
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(f.Path)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return exit.Usagef("%s is not a regular file: remove it, and run the command again", f.Path)
		default:
			there = append(there, f.Path)
		}
	}
	if len(there) > 0 && !force {
		return exit.Usagef("%s exists already: edit it, or replace it with --force", strings.Join(there, " and "))
	}
	return nil
}

// Write writes the files, and the entry of .gitignore. It returns the paths that it changed.
func Write(dir string, files []File) (written []string, err error) {
	ignore, err := Ignore(dir)
	if err != nil {
		return nil, err
	}
	if ignore != nil {
		files = append(slices.Clone(files), *ignore)
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := within(dir, filepath.Dir(f.Path)); err != nil {
			return written, err
		}
		if err := atomicfile.MkdirAll(filepath.Dir(path)); err != nil {
			return written, err
		}
		if err := atomicfile.Write(path, []byte(f.Content)); err != nil {
			return written, err
		}
		written = append(written, f.Path)
	}
	return written, nil
}

// within refuses folders that are links, which may lead out of the repository.
func within(dir, folder string) error {
	for folder = filepath.FromSlash(folder); folder != "."; folder = filepath.Dir(folder) {
		info, err := os.Lstat(filepath.Join(dir, folder))
		if err == nil && !info.IsDir() {
			return exit.Usagef("%s is a link or a file: replace it by a folder", folder)
		}
	}
	return nil
}

const maxIgnore = 1 << 20

// Ignore is .gitignore with the folder of results; nil if it has the entry.
func Ignore(dir string) (*File, error) {
	path := filepath.Join(dir, ignoreFile)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &File{ignoreFile, ignored + "\n"}, nil
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnore {
		return nil, exit.Usagef("%s is not a small regular file: replace it, and run the command again", ignoreFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w; make it readable", ignoreFile, err)
	}
	for line := range strings.Lines(string(data)) {
		if entry := strings.Trim(strings.TrimSpace(line), "/"); entry == strings.TrimSuffix(ignored, "/") {
			return nil, nil
		}
	}
	content := string(data)
	if content != "" && !strings.HasSuffix(content, "\n") {
		content += "\n"
	}
	return &File{ignoreFile, content + ignored + "\n"}, nil
}
