package kernels

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

// Lint reports what is doubtful about a dataset and its tensor files, in the order of
// [flashinfer.Lint].
func Lint(ds *flashinfer.Dataset) []flashinfer.Finding {
	var files blobs
	defer files.close()
	return flashinfer.Lint(ds, &files)
}

// blobs reads the headers of tensor files, and last elements. It keeps the last
// file open, because the inputs of a workload are mostly in one.
type blobs struct {
	path string
	file *safetensors.File
	err  error
}

// Shape implements [flashinfer.Blobs].
func (b *blobs) Shape(path, key string) ([]int, tensor.DType, error) {
	t, err := b.tensor(path, key)
	return t.Shape, t.DType, err
}

// Last implements [flashinfer.Elements].
func (b *blobs) Last(path, key string) (int64, error) {
	t, err := b.tensor(path, key)
	last := make([]int64, 1)
	if err == nil && (!t.DType.IsInteger() || t.Ints(last, t.Elements()-1) != 1) {
		err = fmt.Errorf("%s %v has no last whole number: correct the file, or the constraint", t.DType, t.Shape)
	}
	return last[0], err
}

func (b *blobs) tensor(path, key string) (tensor.Tensor, error) {
	if path != b.path {
		b.close()
		b.path = path
		if b.file, b.err = safetensors.Open(path); b.err != nil && isPointer(path) {
			b.err = errors.New("it is a pointer of Git LFS, not the file: fetch it by 'git lfs pull'")
		}
	}
	if b.err != nil {
		return tensor.Tensor{}, b.err
	}
	return b.file.Tensor(key)
}

func (b *blobs) close() {
	if b.file != nil {
		b.file.Close()
	}
}

// isPointer reports whether a regular file is what Git LFS leaves in the place
// of one that was not fetched (github.com/git-lfs/git-lfs, docs/spec.md).
func isPointer(path string) bool {
	const start = "version https://git-lfs.github.com/spec/"
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(len(start))))
	return err == nil && bytes.Equal(text, []byte(start))
}
