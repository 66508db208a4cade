package flashinfer

import (
	"path/filepath"
	"strconv"
	"strings"
)

// maxWhole is the largest whole number up to which a float64 holds all.
const maxWhole = 1 << 53

// workload reads a workload. Of one that was measured elsewhere files may have
// absolute paths, as upstream allows: they are never opened.
func (r *reader) workload(v value, measured bool) (w Workload) {
	o := r.object(v, "workload", false, "uuid", "axes", "inputs")
	if _, ok := o.given["uuid"]; ok || v.Kind != '{' {
		w.UUID = o.name("uuid")
	} else {
		r.fail(v, "workload.uuid", "is missing, as in the format of 2025-07, which is no longer read; add one that no other workload of the definition has")
	}
	if v, ok := o.required("axes"); ok {
		w.Axes = map[string]int{}
		for _, m := range r.members(v, "workload.axes") {
			w.Axes[m.Key] = r.whole(m.Value, join("workload.axes", m.Key))
		}
	}
	if v, ok := o.required("inputs"); ok {
		w.Inputs = map[string]Input{}
		for _, m := range r.members(v, "workload.inputs") {
			w.Inputs[m.Key] = r.input(m.Value, join("workload.inputs", m.Key), measured)
		}
	}
	return w
}

func (r *reader) input(v value, path string, measured bool) (in Input) {
	kind := ""
	for _, m := range v.Members {
		if m.Key == "type" {
			kind = m.Text
		}
	}
	keys := []string{"type"}
	switch kind {
	case Scalar:
		keys = append(keys, "value")
	case Safetensors:
		keys = append(keys, "path", "tensor_key")
	}
	o := r.object(v, path, kind != Random && len(keys) == 1, keys...) // an unknown type has unknown keys
	if v, ok := o.required("type"); ok {
		in.Type = r.oneOf(v, path+".type", []string{Random, Scalar, Safetensors})
	}
	switch kind {
	case Scalar:
		if v, ok := o.required("value"); ok {
			r.scalar(v, path+".value", &in)
		}
	case Safetensors:
		in.Path, in.TensorKey = r.blob(o, measured), o.name("tensor_key")
	}
	return in
}

func (r *reader) scalar(v value, path string, in *Input) {
	switch v.Kind {
	case 't', 'f':
		in.Bool = true
		if v.Kind == 't' {
			in.Value = 1
		}
	case '0':
		n, err := strconv.ParseFloat(v.Text, 64)
		whole := !strings.ContainsAny(v.Text, ".eE")
		if err != nil || whole && (n > maxWhole || n < -maxWhole) {
			r.fail(v, path, "%s cannot be held exactly; write a number nearer to 0", describe(v))
			return
		}
		in.Value = n
	default:
		r.fail(v, path, "want a number or a truth value, got %s; write one", describe(v))
	}
}

func (r *reader) blob(o object, measured bool) string {
	v, ok := o.required("path")
	if !ok {
		return ""
	}
	p := r.text(v, join(o.path, "path"))
	absolute := filepath.IsAbs(p)
	switch {
	case v.Kind != '"':
	case p == "" || len(p) > 4096 || strings.ContainsRune(p, 0) || !absolute && !inside(strings.TrimPrefix(p, "./")):
		r.fail(v, join(o.path, "path"), "%s does not stay in the dataset; write a path relative to its root, with slashes and without ..",
			quote(p))
	case absolute && !measured:
		r.fail(v, join(o.path, "path"),
			"%s is absolute, and a dataset names no files of the host; move the file below blob/ (or link it there) and write its path "+
				"relative to the dataset's root", quote(p))
	}
	return p
}
