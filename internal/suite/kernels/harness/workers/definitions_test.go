package workers_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// small is a real definition at a point that a CPU computes at once. Inputs that
// cannot be random are given as integers.
type small struct {
	definition string
	axes       map[string]int
	ints       map[string][]int64
	scalars    map[string]float64
	recorded   bool // golden/<definition> has inputs and outputs
	draws      bool // the outputs are drawn at random
}

var definitions = []small{
	{definition: "rmsnorm_h128", axes: map[string]int{"batch_size": 4}, recorded: true},
	{definition: "fused_add_rmsnorm_h2048", axes: map[string]int{"batch_size": 3}},
	{definition: "gemm_n128_k2048", axes: map[string]int{"M": 4}, recorded: true},
	{definition: "gqa_paged_decode_h5_kv1_d128_ps1",
		axes: map[string]int{"batch_size": 2, "num_pages": 16, "len_indptr": 3, "num_kv_indices": 7},
		ints: map[string][]int64{"kv_indptr": {0, 3, 7}, "kv_indices": {1, 5, 2, 15, 0, 9, 4}}, scalars: map[string]float64{"sm_scale": 0.088}},
	{definition: "gqa_paged_decode_h32_kv8_d128_ps1",
		axes: map[string]int{"batch_size": 1, "num_pages": 63, "len_indptr": 2, "num_kv_indices": 4},
		ints: map[string][]int64{"kv_indptr": {0, 4}, "kv_indices": {62, 5, 2, 30}}, scalars: map[string]float64{"sm_scale": 0.088}},
	{definition: "mla_paged_decode_h8_ckv512_kpe64_ps1",
		axes: map[string]int{"batch_size": 2, "num_pages": 8, "len_indptr": 3, "num_kv_indices": 5},
		ints: map[string][]int64{"kv_indptr": {0, 2, 5}, "kv_indices": {7, 0, 3, 1, 6}}, scalars: map[string]float64{"sm_scale": 0.1}},
	{definition: "gdn_decode_qk4_v8_d128_k_last", axes: map[string]int{"batch_size": 2}, scalars: map[string]float64{"scale": 0.088}},
	{definition: "rope_with_cos_sin_cache_neox_style_d128_rd64",
		axes: map[string]int{"num_tokens": 3, "num_qo_heads": 4, "num_kv_heads": 2, "max_seq_len": 32},
		ints: map[string][]int64{"positions": {0, 31, 7}}},
	{definition: "top_k_sampling_from_probs_v128256", axes: map[string]int{"batch_size": 1},
		ints: map[string][]int64{"top_k": {40}}, draws: true},
}

// TestRealDefinitionsThorough runs the references of a dataset on torch: their outputs
// have the dtypes and shapes of the definition, are finite, come out the same
// again, and those that were recorded are close to the record.
func TestRealDefinitionsThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	root := data(t)
	p := start(t, "trusted")
	p.must(`{"op":"hello","proto":"fib-worker/1","device":"cpu"}`)
	types := map[string]bool{}
	for _, c := range definitions {
		t.Run(c.definition, func(t *testing.T) {
			paths, _ := filepath.Glob(filepath.Join(root, "flashinfer-trace", "definitions", "*", c.definition+".json"))
			if len(paths) != 1 {
				t.Fatalf("found %d files", len(paths))
			}
			text, err := os.ReadFile(paths[0])
			if err != nil {
				t.Fatal(err)
			}
			d, err := flashinfer.ParseDefinition(paths[0], text)
			if err != nil {
				t.Fatal(err)
			}
			types[d.OpType] = true
			q := *p
			q.TB = t
			q.compute(root, d, c)
			p.seq = q.seq
		})
	}
	if len(definitions) < 8 || len(types) < 6 {
		t.Errorf("%d definitions of %d types, want 8 of 6", len(definitions), len(types))
	}
}

func (p *process) compute(root string, d *flashinfer.Definition, c small) {
	dir := p.TempDir()
	golden := filepath.Join(root, "golden", d.Name)
	if err := os.WriteFile(filepath.Join(dir, "main.py"), []byte(d.Reference), 0o644); err != nil {
		p.Fatal(err)
	}
	p.must(`{"op":"build","id":%q,"language":"python","entry":"main.py::run","dps":false,"dir":%q,"inputs":%s,"outputs":%s}`,
		d.Name, dir, params(d.Inputs), params(d.Outputs))
	for _, in := range d.Inputs {
		p.input(d, in, c, dir, golden)
	}
	var first map[string][]byte
	for _, file := range []string{"1", "2"} {
		path := filepath.Join(dir, file)
		reply := p.must(`{"op":"run","id":%q,"args":%s,"out":%s,"save":%q}`, d.Name, quoted(d.Inputs), quoted(d.Outputs), path)
		if got := p.outputs(d, c, reply, path); first == nil || c.draws {
			first = got
		} else if !maps.EqualFunc(first, got, slices.Equal) {
			p.Error("the same inputs gave other outputs")
		}
	}
	reply := p.must(`{"op":"time","id":%q,"slots":[{"args":%s,"out":%s}],"order":[0],"warmup":1,"iters":3,"poison":true}`,
		d.Name, quoted(d.Inputs), quoted(d.Outputs))
	if ns, _ := reply["ns"].([]any); len(ns) != 3 || slices.Contains(ns, any(0.0)) {
		p.Errorf("times %v, want three above 0", ns)
	}
	if c.recorded {
		p.close(d, dir, golden)
	}
}

func params(tensors []flashinfer.Tensor) string {
	type param struct {
		Name   string       `json:"name"`
		DType  tensor.DType `json:"dtype"`
		Scalar bool         `json:"scalar"`
	}
	var list []param
	for _, t := range tensors {
		list = append(list, param{t.Name, t.DType, t.Scalar})
	}
	text, _ := json.Marshal(list) // cannot fail
	return string(text)
}

func quoted(tensors []flashinfer.Tensor) string {
	var names []string
	for _, t := range tensors {
		names = append(names, fmt.Sprintf("%q", t.Name))
	}
	return "[" + strings.Join(names, ",") + "]"
}

func shape(d *flashinfer.Definition, of flashinfer.Tensor, axes map[string]int) []int {
	sizes := []int{}
	for _, name := range of.Shape {
		i := slices.IndexFunc(d.Axes, func(a flashinfer.Axis) bool { return a.Name == name })
		size, given := axes[name]
		if !given {
			size = d.Axes[i].Value
		}
		sizes = append(sizes, size)
	}
	return sizes
}

func (p *process) input(d *flashinfer.Definition, in flashinfer.Tensor, c small, dir, golden string) {
	dims := shape(d, in, c.axes)
	text, _ := json.Marshal(dims) // cannot fail
	source := `"random":{"seed":9}`
	switch ints := c.ints[in.Name]; {
	case in.Scalar:
		p.must(`{"op":"tensor","name":%q,"dtype":%q,"shape":null,"scalar":%v}`, in.Name, in.DType, c.scalars[in.Name])
		return
	case ints != nil:
		t := tensor.Tensor{DType: in.DType, Shape: dims, Data: make([]byte, in.DType.Size(len(ints)))}
		t.SetInts(ints, 0)
		path := filepath.Join(dir, in.Name+".safetensors")
		if err := safetensors.Write(path, []safetensors.Named{{Name: "key", Tensor: t}}); err != nil {
			p.Fatal(err)
		}
		source = fmt.Sprintf(`"file":{"path":%q,"key":"key"}`, path)
	case c.recorded:
		source = fmt.Sprintf(`"file":{"path":%q,"key":%q}`, filepath.Join(golden, "inputs.safetensors"), in.Name)
	case in.Name == "probs":
		source = `"random":{"seed":9,"dist":"probabilities"}`
	}
	p.must(`{"op":"tensor","name":%q,"dtype":%q,"shape":%s,%s}`, in.Name, in.DType, text, source)
}

// outputs reads what was saved and holds it against the definition.
func (p *process) outputs(d *flashinfer.Definition, c small, reply map[string]any, path string) map[string][]byte {
	described, _ := reply["outputs"].([]any)
	if len(described) != len(d.Outputs) {
		p.Fatalf("described %v, want %d outputs", described, len(d.Outputs))
	}
	got := map[string][]byte{}
	for _, out := range d.Outputs {
		t := p.read(path, out.Name)
		if t.DType != out.DType || !slices.Equal(t.Shape, shape(d, out, c.axes)) {
			p.Errorf("%s is %s%v, want %s%v", out.Name, t.DType, t.Shape, out.DType, shape(d, out, c.axes))
		}
		values := make([]float64, t.Elements())
		t.Floats64(values, 0)
		if bad := slices.IndexFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }); bad >= 0 {
			p.Errorf("%s has %v at %d", out.Name, values[bad], bad)
		}
		got[out.Name] = t.Data
	}
	return got
}

func (p *process) read(path, name string) tensor.Tensor {
	file, err := safetensors.Read(path, 1<<30)
	if err != nil {
		p.Fatal(err)
	}
	t, err := file.Tensor(name)
	if err != nil {
		p.Fatal(err)
	}
	return t
}

// close holds outputs against recorded ones. The order of sums depends on the
// processor, and the last bit of a result with it.
func (p *process) close(d *flashinfer.Definition, dir, golden string) {
	for _, out := range d.Outputs {
		got, want := p.read(filepath.Join(dir, "1"), out.Name), p.read(filepath.Join(golden, "reference.safetensors"), out.Name)
		a, b := make([]float64, got.Elements()), make([]float64, want.Elements())
		got.Floats64(a, 0)
		want.Floats64(b, 0)
		for i := range b {
			if len(a) != len(b) || math.Abs(a[i]-b[i]) > 0.008*math.Abs(b[i])+1e-2 {
				p.Fatalf("%s: element %d is %v, was recorded as %v", out.Name, i, a[i], b[i])
			}
		}
	}
}
