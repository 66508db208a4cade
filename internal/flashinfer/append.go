package flashinfer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/accelgate/accelgate/internal/atomicfile"
)

// AppendTrace appends a result to a trace file, making it and its folder if
// they are missing, and returns when the disk has it. A last line without its
// line break is ended first. If it is only the beginning of a line, as a killed
// writer leaves it, it is removed and cut says how many bytes it had. On an
// error the file is as it was, but for that repair.
//
// Only one writer may append to a file at a time.
func AppendTrace(path string, t *Trace) (cut int64, err error) {
	if t.Evaluation == nil {
		return 0, errors.New("append a trace: it has no result: write workloads with WriteWorkloads")
	}
	line, err := EncodeTrace(t)
	if err != nil {
		return 0, err
	}
	line = append(line, '\n')
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, atomicfile.Write(path, line)
	}
	if err == nil {
		cut, err = appendLine(file, line)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return cut, fmt.Errorf("append a trace to %s: %w", plain(path), err)
	}
	return cut, nil
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
