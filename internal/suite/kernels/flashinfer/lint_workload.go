package flashinfer

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
)

func (l *linter) workload(w *Trace) {
	d := l.ds.Definition(w.Definition)
	if d == nil {
		l.unknown(w.Place, "definition", w.Definition)
		return
	}
	l.place(w.Place, workloadsFolder, ".jsonl", d.OpType, d.Name)
	fine := l.axes(d, w)
	l.inputs(d, w)
	if !fine {
		return
	}
	shapes, err := d.Shapes(&w.Workload)
	if err != nil {
		l.note(w.Place, "axes", "%v", err)
		return
	}
	whole := l.blobShapes(d, w, shapes)
	sound := *d
	sound.Constraints = l.sound[d.Name]
	if err := sound.CheckConstraints(w.Workload.Axes, shapes, l.last(w, whole)); err != nil {
		for _, one := range unjoin(err) {
			l.note(w.Place, "constraint", "%v", one)
		}
	}
}

func unjoin(err error) []error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return all.Unwrap()
	}
	return []error{err}
}

// axes reports whether the workload gives exactly the variable axes.
func (l *linter) axes(d *Definition, w *Trace) bool {
	given := maps.Clone(w.Workload.Axes)
	before := len(l.findings)
	for _, a := range d.Axes {
		size, ok := given[a.Name]
		delete(given, a.Name)
		switch {
		case a.Const && ok:
			l.note(w.Place, "axes", "gives the axis %s, which is always %d: remove it", quote(a.Name), a.Value)
		case !a.Const && !ok:
			l.note(w.Place, "axes", "does not give the axis %s: add it", quote(a.Name))
		case !a.Const && size <= 0:
			l.note(w.Place, "axes", "gives the axis %s as %d: write a number above 0", quote(a.Name), size)
		}
	}
	if len(given) > 0 {
		l.note(w.Place, "axes", "names no axis of the definition (%s): remove it", names(given))
	}
	return len(l.findings) == before
}

func (l *linter) inputs(d *Definition, w *Trace) {
	given := maps.Clone(w.Workload.Inputs)
	for _, t := range d.Inputs {
		in, ok := given[t.Name]
		delete(given, t.Name)
		switch {
		case !ok:
			l.note(w.Place, "inputs", "does not give the input %s, which upstream takes for random: add it", quote(t.Name))
		case t.Scalar != (in.Type == Scalar):
			want := "random or safetensors"
			if t.Scalar {
				want = Scalar
			}
			l.note(w.Place, "inputs", "gives the input %s as %s: write %s", quote(t.Name), in.Type, want)
		}
	}
	if len(given) > 0 {
		l.note(w.Place, "inputs", "names no input of the definition (%s): remove it", names(given))
	}
}

// blobShapes compares the tensors in files with what the axes demand. It
// returns the names of those that are as they should be.
func (l *linter) blobShapes(d *Definition, w *Trace, shapes map[string][]int) map[string]bool {
	fine := map[string]bool{}
	for _, t := range d.Inputs {
		in := w.Workload.Inputs[t.Name]
		if in.Type != Safetensors || t.Scalar || l.absent(w, in) || l.blobs == nil {
			continue
		}
		shape, dtype, err := l.blobs.Shape(l.ds.BlobPath(in), in.TensorKey)
		switch {
		case err != nil:
			l.note(w.Place, "blob", "the tensor %s of %s cannot be read (%s): restore the file, or correct the key",
				quote(in.TensorKey), quote(in.Path), plain(err.Error()))
		case !slices.Equal(shape, shapes[t.Name]):
			l.note(w.Place, "blob", "the tensor %s of %s has the shape %v, and the axes demand %v: correct the axes, or the file",
				quote(in.TensorKey), quote(in.Path), shape, shapes[t.Name])
		case dtype != t.DType:
			l.note(w.Place, "blob", "the tensor %s of %s holds %s, and the definition demands %s: write the file again",
				quote(in.TensorKey), quote(in.Path), quote(string(dtype)), t.DType)
		default:
			fine[t.Name] = true
		}
	}
	return fine
}

// absent reports a tensor file that does not exist, once for each file.
func (l *linter) absent(w *Trace, in Input) bool {
	path := l.ds.BlobPath(in)
	if _, known := l.missing[path]; !known {
		_, err := os.Stat(path)
		if l.missing[path] = errors.Is(err, fs.ErrNotExist); l.missing[path] {
			l.note(w.Place, "blob", "the file %s does not exist: fetch it, such as by git lfs pull", quote(in.Path))
		}
	}
	return l.missing[path]
}

// last returns the way to the last elements of the tensors that are fine, nil
// if there is none.
func (l *linter) last(w *Trace, fine map[string]bool) func(string) (int64, error) {
	elements, ok := l.blobs.(Elements)
	if !ok {
		return nil
	}
	return func(name string) (int64, error) {
		if !fine[name] {
			return 0, errNoElements
		}
		in := w.Workload.Inputs[name]
		return elements.Last(l.ds.BlobPath(in), in.TensorKey)
	}
}
