package flashinfer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"maps"
	"math"
	"slices"
)

// digest hashes texts and numbers so that different lists of them are
// different streams of bytes: each text comes after its length.
type digest struct{ hash.Hash }

func (d digest) number(n int) {
	d.Write(binary.LittleEndian.AppendUint64(nil, uint64(n)))
}

func (d digest) text(all ...string) {
	for _, s := range all {
		d.number(len(s))
		_, _ = io.WriteString(d, s)
	}
}

func (d digest) list(all []string) {
	d.number(len(all))
	d.text(all...)
}

func (d digest) hex() string { return hex.EncodeToString(d.Sum(nil)) }

// Hash returns the SHA-256, in hexadecimal, of all that decides how a solution is
// built, called and judged: definition, language, entry point, binding, who
// allocates the outputs, dependencies and sources. It does not depend on the
// solution's name.
func (s *Solution) Hash() string {
	d := digest{sha256.New()}
	style := "returns"
	if s.DestinationPassing {
		style = "destination passing"
	}
	d.text(s.Definition, s.Language, s.EntryPoint, s.Binding, style)
	d.list(s.Dependencies)
	for _, source := range s.Sources {
		d.text(source.Path, source.Content)
	}
	return d.hex()
}

// Hash returns the SHA-256, in hexadecimal, of all of a definition but its
// descriptions and tags.
func (d *Definition) Hash() string {
	h := digest{sha256.New()}
	h.text(d.Name, d.OpType, d.Reference)
	h.list(d.Constraints)
	h.number(len(d.Axes))
	for _, a := range d.Axes {
		h.text(a.Name)
		h.number(bit(a.Const))
		h.number(a.Value)
	}
	for _, tensors := range [][]Tensor{d.Inputs, d.Outputs} {
		h.number(len(tensors))
		for _, t := range tensors {
			h.text(t.Name, string(t.DType))
			h.number(bit(t.Scalar))
			h.list(t.Shape)
		}
	}
	return h.hex()
}

// Hash returns the SHA-256, in hexadecimal, of a workload. Of tensors in files
// it takes the path and not the content.
func (w *Workload) Hash() string {
	h := digest{sha256.New()}
	h.text(w.UUID)
	h.number(len(w.Axes))
	for _, name := range slices.Sorted(maps.Keys(w.Axes)) {
		h.text(name)
		h.number(w.Axes[name])
	}
	for _, name := range slices.Sorted(maps.Keys(w.Inputs)) {
		in := w.Inputs[name]
		h.text(name, in.Type, in.Path, in.TensorKey)
		h.number(bit(in.Bool))
		h.number(int(math.Float64bits(in.Value)))
	}
	return h.hex()
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
