package lowrank

import (
	"fmt"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

// The sizes of the generated model, small enough for seconds of pure Go.
const (
	generatedLayers = 2
	generatedHidden = 448
	generatedHeads  = 256 // all of the queries
	generatedKV     = 64
	generatedMLP    = 384
	generatedVocab  = 320
	generatedStd    = 0.02
)

// Generate writes model.safetensors into a folder, which need not exist, and
// returns its path: a model of two layers with Llama's names, whose MLPs have no
// gate.
// Of its tensors, all of bfloat16, 12 are targets, from 64 x 448 to 384 x 448.
//
// Weights are almost normal, with mean 0 and standard deviation 0.02 (the
// numbers of [tensor.Random] for float32, multiplied and rounded once); those of
// norms are 1. The same seed gives the same bytes everywhere.
func Generate(folder string, seed uint64) (string, error) {
	path := filepath.Join(folder, "model.safetensors")
	named := []safetensors.Named{
		generated("model.embed_tokens.weight", seed, generatedVocab, generatedHidden),
		ones("model.norm.weight"),
	}
	for layer := range generatedLayers {
		for i, w := range []struct {
			name   string
			shape0 int
			shape1 int
		}{
			{"self_attn.q_proj", generatedHeads, generatedHidden},
			{"self_attn.k_proj", generatedKV, generatedHidden},
			{"self_attn.v_proj", generatedKV, generatedHidden},
			{"self_attn.o_proj", generatedHidden, generatedHeads},
			{"mlp.up_proj", generatedMLP, generatedHidden},
			{"mlp.down_proj", generatedHidden, generatedMLP},
		} {
			name := fmt.Sprintf("model.layers.%d.%s.weight", layer, w.name)
			named = append(named, generated(name, seed+uint64(1+layer*6+i)<<32, w.shape0, w.shape1))
		}
		for _, norm := range []string{"input_layernorm", "post_attention_layernorm"} {
			named = append(named, ones(fmt.Sprintf("model.layers.%d.%s.weight", layer, norm)))
		}
	}
	return path, safetensors.Write(path, named)
}

func generated(name string, seed uint64, n, m int) safetensors.Named {
	random := tensor.Tensor{DType: tensor.Float32, Shape: []int{n, m}, Data: make([]byte, 4*n*m)}
	if err := tensor.Random(random.Data, random.DType, seed, 0); err != nil {
		panic(err) // impossible: whole elements, from the first on
	}
	values := floats64(random)
	for i := range values {
		values[i] *= generatedStd
	}
	return safetensors.Named{Name: name, Tensor: store(tensor.BF16, values, n, m)}
}

func ones(name string) safetensors.Named {
	values := make([]float64, generatedHidden)
	for i := range values {
		values[i] = 1
	}
	return safetensors.Named{Name: name, Tensor: store(tensor.BF16, values, generatedHidden)}
}
