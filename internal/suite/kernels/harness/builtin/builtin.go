// Package builtin is a small dataset in the layout of FlashInfer-Bench that the
// program carries with it: eight definitions of the kernels of package gokernel,
// with a solution in Go for each and one in C. With it a suite of kernels runs
// on any machine, without Python and without a download.
//
// The dataset is files, below dataset; a further workload is a further line.
// Only tensor files are not kept but computed: inputs that must be valid
// indices or parameters have the elements that values gives them by their names.
// The references are Python for torch, as in any dataset; whoever has none takes
// the plain kernel that gokernel.EntryPoint names.
package builtin

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

//go:embed dataset
var dataset embed.FS

// Write writes the dataset, tensor files included, into dir, which is made if it
// does not exist and must hold nothing: files that were changed or measured
// there are not overwritten. The files are the same every time.
func Write(dir string) error {
	switch entries, err := os.ReadDir(dir); {
	case err == nil && len(entries) > 0:
		return fmt.Errorf("write the built-in dataset: %q is not empty: name a new folder", dir)
	case err != nil && !os.IsNotExist(err):
		return fmt.Errorf("write the built-in dataset: %w: name a new folder", err)
	}
	files, err := fs.Sub(dataset, "dataset")
	if err == nil {
		err = os.CopyFS(dir, files)
	}
	if err == nil {
		err = writeBlobs(dir)
	}
	if err != nil {
		return fmt.Errorf("write the built-in dataset: %w: name a folder that has space", err)
	}
	return nil
}

// writeBlobs writes the tensor files that the workloads name.
func writeBlobs(dir string) error {
	ds, err := flashinfer.Load(dir)
	if err != nil {
		return err
	}
	for _, w := range ds.Workloads {
		blobs, err := blobs(ds, w)
		if err != nil {
			return err
		}
		for path, tensors := range blobs {
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				return err
			}
			if err := safetensors.Write(path, tensors); err != nil {
				return err
			}
		}
	}
	return nil
}

// blobs computes the tensors that a workload takes from files, by path.
func blobs(ds *flashinfer.Dataset, w *flashinfer.Trace) (map[string][]safetensors.Named, error) {
	d := ds.Definition(w.Definition)
	shapes, err := d.Shapes(&w.Workload)
	if err != nil {
		return nil, err
	}
	axes := maps.Clone(w.Workload.Axes)
	for _, a := range d.Axes {
		if a.Const {
			axes[a.Name] = a.Value
		}
	}
	files := map[string][]safetensors.Named{}
	for _, in := range d.Inputs {
		from := w.Workload.Inputs[in.Name]
		if from.Type != flashinfer.Safetensors {
			continue
		}
		t, err := compute(in, shapes[in.Name], axes)
		if err != nil {
			return nil, err
		}
		path := ds.BlobPath(from)
		files[path] = append(files[path], safetensors.Named{Name: from.TensorKey, Tensor: t})
	}
	return files, nil
}

func compute(in flashinfer.Tensor, shape []int, axes map[string]int) (tensor.Tensor, error) {
	t := tensor.Tensor{DType: in.DType, Shape: shape}
	value, known := values[in.Name]
	if !known {
		return t, fmt.Errorf("nothing is known of the elements of %q", in.Name)
	}
	t.Data = make([]byte, t.DType.Size(t.Elements()))
	for i := range t.Elements() {
		if v := value(i, axes); in.DType.IsFloat() {
			t.SetFloats64([]float64{v}, i)
		} else {
			t.SetInts([]int64{int64(v)}, i)
		}
	}
	return t, nil
}
