package engine

import "github.com/accelgate/accelgate/internal/tensor"

// kvRows stores the keys or the values of one layer, one row for each position.
type kvRows interface {
	// put stores a row. Rows are put in order, from 0 on; a second row 0
	// starts over, and any other that is put again replaces the first.
	put(row int, x []float32)
	// rows returns the first n rows as they read back, without gaps. They are
	// valid until the next call on any store of the session.
	rows(n int) []float32
}

// kvCacheDTypes lists the number formats that a KV cache can be kept in, the
// default first.
func kvCacheDTypes() []string { return []string{kvFloat32, "f16", "q8_0"} }

// kvFloat32 is the dtype that is read in place.
const kvFloat32 = "f32"

// newKVRows returns a store of n rows. Its reads may use the scratch, which
// holds n rows and which stores that are not read at once can share.
func newKVRows(dtype string, n, width int, scratch []float32) kvRows {
	switch dtype {
	case "f16":
		return &f16Rows{width, make([]tensor.Float16, n*width), scratch}
	case "q8_0":
		return &q8Rows{width / tensor.Q8Len, make([]tensor.Q8Block, n*width/tensor.Q8Len), scratch}
	}
	return &f32Rows{width, make([]float32, n*width)}
}

type f32Rows struct {
	width int
	data  []float32
}

func (s *f32Rows) put(row int, x []float32) { copy(s.data[row*s.width:], x) }
func (s *f32Rows) rows(n int) []float32     { return s.data[:n*s.width] }

type f16Rows struct {
	width   int
	data    []tensor.Float16
	scratch []float32
}

func (s *f16Rows) put(row int, x []float32) {
	data := s.data[row*s.width:][:len(x)]
	for i, v := range x {
		data[i] = tensor.ToFloat16(v)
	}
}

func (s *f16Rows) rows(n int) []float32 {
	floats := s.scratch[:n*s.width]
	for i, h := range s.data[:len(floats)] {
		floats[i] = h.Float32()
	}
	return floats
}

type q8Rows struct {
	blocks  int // of a row
	data    []tensor.Q8Block
	scratch []float32
}

func (s *q8Rows) put(row int, x []float32) {
	for i := range s.blocks {
		s.data[row*s.blocks+i].Quantize((*[tensor.Q8Len]float32)(x[i*tensor.Q8Len:]))
	}
}

func (s *q8Rows) rows(n int) []float32 {
	for i := range n * s.blocks {
		s.data[i].Dequantize((*[tensor.Q8Len]float32)(s.scratch[i*tensor.Q8Len:]))
	}
	return s.scratch[:n*s.blocks*tensor.Q8Len]
}
