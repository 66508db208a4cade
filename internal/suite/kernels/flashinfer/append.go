package flashinfer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/accelgate/accelgate/internal/atomicfile"
)

// AppendTrace appends a result to a trace file of a dataset, making it and its
// folder if they are missing, and returns when the disk has it. The path is
// relative to the dataset's root; see [TracePath]. A last line without its line
// break is ended first. If it is only the beginning of a line, as a killed
// writer leaves it, it is removed and cut says how many bytes it had. On an
// error the file is as it was, but for that repair.
//
// Links below root are refused: a dataset is foreign, and what it leads to need
// not be a file of traces. Only one writer may append to a file at a time.
func AppendTrace(root, path string, t *Trace) (cut int64, err error) {
	if t.Evaluation == nil {
		return 0, errors.New("append a trace: it has no result: write workloads with WriteWorkloads")
	}
	line, err := EncodeTrace(t)
	if err != nil {
		return 0, err
	}
	line = append(line, '\n')
	file, err := openOwn(root, path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, atomicfile.Write(filepath.Join(root, path), line)
	}
	if err == nil {
		cut, err = appendLine(file, line)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return cut, fmt.Errorf("append a trace to %s: %w", plain(filepath.Join(root, path)), err)
	}
	return cut, nil
}

// openOwn opens a file below root for reading and writing that no link leads to.
func openOwn(root, path string) (*os.File, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	info, err := own(dir, path)
	if refused := (notOwn{}); errors.As(err, &refused) {
		return nil, fmt.Errorf("%w; put an ordinary file or folder there, or name another folder for traces", err)
	} else if err != nil {
		return nil, err
	}
	file, err := dir.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if opened, err := file.Stat(); err != nil || !os.SameFile(info, opened) {
		file.Close()
		return nil, errors.New("it was replaced just now; see what else writes there")
	}
	return file, nil
}

// notOwn describes why a file is not one of a folder's own.
type notOwn struct{ error }

// own looks at an ordinary file that neither is a link nor is reached by one.
func own(dir *os.Root, path string) (info fs.FileInfo, err error) {
	parts := strings.Split(filepath.Clean(path), string(filepath.Separator))
	for i := range parts {
		name := filepath.Join(parts[:i+1]...)
		if info, err = dir.Lstat(name); err != nil {
			return nil, err
		}
		switch last := i == len(parts)-1; {
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, notOwn{fmt.Errorf("%s is a link, which is not followed", plain(name))}
		case !last && !info.IsDir():
			return nil, notOwn{fmt.Errorf("%s is not a folder", plain(name))}
		case last && !info.Mode().IsRegular():
			return nil, notOwn{fmt.Errorf("%s is not an ordinary file", plain(name))}
		}
	}
	return info, nil
}

func appendLine(file *os.File, line []byte) (cut int64, err error) {
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	tail, err := unfinished(file, end)
	if err != nil {
		return 0, err
	}
	if len(tail) > 0 {
		_, problem := parse(tail, 0)
		switch {
		case problem != nil && problem.cutOff:
			cut = int64(len(tail))
			end -= cut
			if err := file.Truncate(end); err != nil {
				return 0, err
			}
		case problem != nil:
			return 0, fmt.Errorf("its last line %s", problem.message)
		default:
			line = append([]byte("\n"), line...)
		}
	}
	if _, err := file.WriteAt(line, end); err != nil {
		return cut, errors.Join(err, file.Truncate(end))
	}
	return cut, file.Sync()
}

// unfinished returns what stands behind the last line break. It is read from
// the end, in growing parts, because a file may have thousands of lines.
func unfinished(file *os.File, end int64) ([]byte, error) {
	for size := int64(1); ; size *= 1024 {
		size = min(size, end, maxLineBytes+1)
		tail := make([]byte, size)
		if _, err := file.ReadAt(tail, end-size); err != nil {
			return nil, err
		}
		if at := bytes.LastIndexByte(tail, '\n'); at >= 0 || size == end {
			return tail[at+1:], nil
		}
		if size > maxLineBytes {
			return nil, fmt.Errorf("its last line is longer than %d bytes; correct it", maxLineBytes)
		}
	}
}
