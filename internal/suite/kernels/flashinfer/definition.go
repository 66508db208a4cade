package flashinfer

import (
	"slices"

	"github.com/accelgate/accelgate/internal/tensor"
)

// dtypes are the formats that a definition may name.
var dtypes = []string{
	string(tensor.Float32), string(tensor.F16), string(tensor.BF16),
	string(tensor.Float8E4M3FN), string(tensor.Float8E5M2), string(tensor.Float4E2M1),
	string(tensor.Int64), string(tensor.Int32), string(tensor.Int16), string(tensor.Int8), string(tensor.Bool),
}

// ParseDefinition reads a definition. The path is what messages call the file.
// An error is of type [Problems]; the definition then holds what could be read.
func ParseDefinition(path string, text []byte) (*Definition, error) {
	r := reader{path: path}
	var d *Definition
	if root, ok := r.document(text); ok {
		d = r.definition(root)
	}
	return d, errorOf(r.finish())
}

// document reads the whole text of a file.
func (r *reader) document(text []byte) (value, bool) {
	root, err := parse(text, 1)
	if err != nil {
		r.fail(value{Line: err.line}, "", "%s", err.message)
	}
	return root, err == nil
}

func (r *reader) definition(root value) *Definition {
	o := r.object(root, "", false, "name", "op_type", "description", "axes", "inputs", "outputs", "reference", "tags", "constraints")
	d := &Definition{
		Name: o.name("name"), OpType: o.name("op_type"), Description: o.text("description"),
		Tags: o.texts("tags"), Constraints: o.texts("constraints"), Place: Place{r.path, root.Line},
	}
	if v, ok := o.required("axes"); ok {
		d.Axes = r.axes(v)
	}
	d.Inputs = r.tensors(o, "inputs", d)
	d.Outputs = r.tensors(o, "outputs", d)
	if v, ok := o.required("reference"); ok {
		d.Reference = r.text(v, "reference")
		if _, found := runSignature(d.Reference); v.Kind == '"' && !found {
			r.fail(v, "reference", `has no "def run(...)" at its top level; write one`)
		}
	}
	return d
}

func (r *reader) axes(v value) (axes []Axis) {
	for _, m := range r.members(v, "axes") {
		path := join("axes", m.Key)
		o := r.object(m.Value, path, false, "type", "value", "description")
		a := Axis{Name: m.Key, Description: o.text("description")}
		if kind, ok := o.required("type"); ok {
			a.Const = r.oneOf(kind, path+".type", []string{"const", "var"}) == "const"
		}
		size, sized := o.given["value"]
		switch {
		case a.Const:
			if size, ok := o.required("value"); ok {
				a.Value = r.whole(size, path+".value")
			}
		case sized:
			r.fail(size, path+".value", `an axis of type "var" has no value; remove it, or write "const"`)
		}
		axes = append(axes, a)
	}
	return axes
}

func (r *reader) tensors(o object, key string, d *Definition) (tensors []Tensor) {
	v, ok := o.required(key)
	if !ok {
		return nil
	}
	for _, m := range r.members(v, key) {
		path := join(key, m.Key)
		if m.Key == "" || d.tensor(m.Key) != nil {
			r.fail(m.Value, path, "inputs and outputs share one set of names, none of them empty; rename one of the two")
		}
		tensors = append(tensors, r.tensor(m, path, d))
	}
	return tensors
}

func (r *reader) tensor(m member, path string, d *Definition) Tensor {
	o := r.object(m.Value, path, false, "shape", "dtype", "description", "optional")
	t := Tensor{Name: m.Key, Description: o.text("description"), Optional: o.flag("optional", false)}
	if v, ok := o.required("dtype"); ok {
		t.DType = tensor.DType(r.oneOf(v, path+".dtype", dtypes))
	}
	i := slices.IndexFunc(m.Members, func(m member) bool { return m.Key == "shape" })
	switch {
	case i < 0:
		o.required("shape")
	case m.Members[i].Kind == 'n':
		t.Scalar = true
	default:
		t.Shape = r.shape(m.Members[i].Value, path+".shape", d)
	}
	return t
}

func (r *reader) shape(v value, path string, d *Definition) []string {
	axes := []string{}
	for i, m := range r.list(v, path) {
		name := r.text(m.Value, index(path, i))
		if m.Kind == '"' && d.axis(name) == nil {
			r.fail(m.Value, index(path, i), "%s is none of the axes; add it to \"axes\", or correct the name", quote(name))
		}
		axes = append(axes, name)
	}
	return axes
}
