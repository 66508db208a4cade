package lowrank

import (
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

// Source has the tensors of a checkpoint. Its methods are called concurrently;
// the data of its tensors is only read.
type Source interface {
	Names() []string
	Tensor(name string) (tensor.Tensor, error)
}

var (
	_ Source = (*safetensors.File)(nil)
	_ Source = Checkpoint{}
)

// Checkpoint is a checkpoint on disk as a [Source].
type Checkpoint struct {
	*safetensors.Checkpoint
	names []string
}

// Open opens a checkpoint as [safetensors.OpenCheckpoint] does. The caller
// closes it.
func Open(path string) (Checkpoint, error) {
	c, err := safetensors.OpenCheckpoint(path)
	if err != nil {
		return Checkpoint{}, err
	}
	var names []string
	for _, info := range c.Tensors() {
		names = append(names, info.Name)
	}
	return Checkpoint{c, names}, nil
}

// Names returns the names of all tensors, sorted.
func (c Checkpoint) Names() []string { return c.names }
