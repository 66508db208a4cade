package builtin_test

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness/builtin"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness/gokernel"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

// blobs reads tensor files for the linter.
type blobs struct{}

var _ flashinfer.Elements = blobs{}

func (blobs) read(path, key string) (tensor.Tensor, error) {
	f, err := safetensors.Read(path, 1<<20)
	if err != nil {
		return tensor.Tensor{}, err
	}
	defer f.Close()
	return f.Tensor(key)
}

func (b blobs) Shape(path, key string) ([]int, tensor.DType, error) {
	t, err := b.read(path, key)
	return t.Shape, t.DType, err
}

func (b blobs) Last(path, key string) (int64, error) {
	t, err := b.read(path, key)
	if err != nil {
		return 0, err
	}
	last := []int64{0}
	t.Ints(last, t.Elements()-1)
	return last[0], nil
}

var written = sync.OnceValues(func() (*flashinfer.Dataset, error) {
	dir, err := os.MkdirTemp("", "accelgate-builtin-")
	if err != nil {
		return nil, err
	}
	if err := builtin.Write(filepath.Join(dir, "new", "folder")); err != nil {
		return nil, err
	}
	return flashinfer.Load(filepath.Join(dir, "new", "folder"))
})

func load(t *testing.T) *flashinfer.Dataset {
	t.Helper()
	ds, err := written()
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

func TestWhatIsWrittenIsSound(t *testing.T) {
	t.Parallel()
	ds := load(t)
	for _, f := range flashinfer.Lint(ds, blobs{}) {
		t.Error(f)
	}
	ops := map[string]bool{}
	for _, d := range ds.Definitions {
		ops[d.OpType] = true
		if n := len(ds.WorkloadsOf(d.Name)); n != 2 {
			t.Errorf("%s has %d workloads, want 2", d.Name, n)
		}
		entry, ok := gokernel.EntryPoint(d.Name)
		isGo := func(s *flashinfer.Solution) bool { return s.Language == "go" && s.EntryPoint == entry+"_blocked" }
		if !ok || !slices.ContainsFunc(ds.SolutionsOf(d.Name), isGo) {
			t.Errorf("%s has the entry point %q, and no solution that is its blocked version", d.Name, entry)
		}
	}
	want := []string{"gemm", "gqa_paged", "rmsnorm", "rope", "sampling"}
	if got := slices.Sorted(maps.Keys(ops)); len(ds.Definitions) != 8 || !slices.Equal(got, want) {
		t.Errorf("%d definitions of %v, want 8 of %v", len(ds.Definitions), got, want)
	}
	if s := ds.Solution("accelgate_c_rmsnorm_h256"); s == nil || s.Language != "c" || !s.DestinationPassing {
		t.Errorf("the solution in C is %+v", s)
	}
}

// TestInputsAreValid: kernels may read and write outside of their tensors where
// indices are wrong.
func TestInputsAreValid(t *testing.T) {
	t.Parallel()
	ds := load(t)
	for _, w := range ds.Workloads {
		axes := w.Workload.Axes
		for name, in := range w.Workload.Inputs {
			if in.Type != flashinfer.Safetensors {
				continue
			}
			data, err := blobs{}.read(ds.BlobPath(in), in.TensorKey)
			if err != nil {
				t.Fatal(err)
			}
			v := make([]float64, data.Elements())
			data.Floats64(v, 0)
			if !valid(name, v, axes) {
				t.Errorf("%s %s: %s is %v, of %v", w.Definition, w.Workload.UUID, name, v, axes)
			}
		}
	}
}

func valid(name string, v []float64, axes map[string]int) bool {
	within := func(low, high float64) bool { return slices.Min(v) >= low && slices.Max(v) <= high }
	switch name {
	case "kv_indptr":
		return v[0] == 0 && len(slices.Compact(slices.Clone(v))) == len(v) && slices.IsSorted(v) && within(0, float64(axes["num_kv_indices"]))
	case "kv_indices":
		distinct := slices.Compact(slices.Sorted(slices.Values(v)))
		return len(distinct) == len(v) && within(0, float64(axes["num_pages"]-1))
	case "kv_last_page_len":
		return within(1, 16)
	case "positions":
		return within(0, float64(axes["max_seq_len"]-1))
	case "cos_sin_cache":
		square := 0.0
		for _, x := range v {
			square += x * x
		}
		return within(-1, 1) && square > 0.4999*float64(len(v)) && square < 0.5001*float64(len(v))
	case "top_k":
		return within(1, 256)
	case "top_p":
		return slices.Min(v) > 0 && within(0, 1)
	}
	return false
}

func TestWriteIsDeterministic(t *testing.T) {
	t.Parallel()
	ds, dir := load(t), t.TempDir()
	if err := builtin.Write(dir); err != nil {
		t.Fatal(err)
	}
	first, second := content(t, ds.Root), content(t, dir)
	if !maps.EqualFunc(first, second, bytes.Equal) || len(first) < 8+9+8+10 {
		t.Errorf("two datasets of %d and %d files differ", len(first), len(second))
	}
}

func content(t *testing.T, root string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files[path], err = os.ReadFile(filepath.Join(root, path))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "traces")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, file} {
		if err := builtin.Write(path); err == nil {
			t.Errorf("%s was written to", path)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%d entries, %v, want what was there", len(entries), err)
	}
}
