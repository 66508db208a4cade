package serving_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// The shape of the generated model: large enough for each part of a transformer, small enough for thousands of tokens a second.
const (
	layers, width, heads, hidden, context = 2, 64, 4, 128, 16384
)

// Types of values in a GGUF file of version 3, by its specification (ggml's docs/gguf.md).
const (
	ggufUint32, ggufInt32, ggufFloat32, ggufBool, ggufString, ggufArray = 4, 5, 6, 7, 8, 9
	normalToken, unknownToken, controlToken, byteToken                  = 1, 2, 3, 6
)

type token struct {
	text  string
	score float32
	kind  int32
}

// vocabulary is that of a SentencePiece tokenizer: control tokens, all bytes, letters, and words of up to two letters.
func vocabulary() []token {
	v := []token{{"<unk>", 0, unknownToken}, {"<s>", 0, controlToken}, {"</s>", 0, controlToken}}
	for b := range 256 {
		v = append(v, token{fmt.Sprintf("<0x%02X>", b), 0, byteToken})
	}
	const space = "\u2581"
	v = append(v, token{space, -1000, normalToken})
	for a := 'a'; a <= 'z'; a++ {
		v = append(v, token{string(a), -1000, normalToken}, token{space + string(a), -500, normalToken})
		for b := 'a'; b <= 'z'; b++ {
			v = append(v, token{string(a) + string(b), float32(-len(v)) / 4, normalToken})
		}
	}
	return v
}

// gguf writes one file: values and tensors are appended, then file puts its parts together.
type gguf struct {
	values, tensors, data bytes.Buffer
	nValues, nTensors     uint64
	random                *rand.Rand
}

func put(b *bytes.Buffer, values ...any) {
	for _, v := range values {
		if s, ok := v.(string); ok {
			put(b, uint64(len(s)))
			b.WriteString(s)
			continue
		}
		if err := binary.Write(b, binary.LittleEndian, v); err != nil {
			panic(err) // a value without a fixed size: a bug of this test
		}
	}
}

func (g *gguf) value(key string, kind uint32, values ...any) {
	g.nValues++
	put(&g.values, key, kind)
	put(&g.values, values...)
}

// tensor adds a matrix of float32, with columns as the first dimension, or a vector if rows is 0. Its values come from next.
func (g *gguf) tensor(name string, columns, rows int, next func(row int) float32) {
	g.nTensors++
	dims := []uint64{uint64(columns), uint64(rows)}
	if rows == 0 {
		dims = dims[:1]
	}
	put(&g.tensors, name, uint32(len(dims)), dims, uint32(0), uint64(g.data.Len()))
	for i := range columns * max(rows, 1) {
		put(&g.data, next(i/columns))
	}
	g.data.Write(make([]byte, -g.data.Len()&31))
}

func (g *gguf) file() []byte {
	var f bytes.Buffer
	put(&f, []byte("GGUF"), uint32(3), g.nTensors, g.nValues, g.values.Bytes(), g.tensors.Bytes())
	f.Write(make([]byte, -f.Len()&31))
	f.Write(g.data.Bytes())
	return f.Bytes()
}

// writeModel writes a llama with random weights. Its answers are letters and never end by themselves: the rows of all other
// tokens in the last matrix are 0, so at temperature 0 the largest logit is a letter's.
func writeModel(t *testing.T, path string) {
	t.Helper()
	g := &gguf{random: rand.New(rand.NewPCG(1, 2))}
	g.value("general.architecture", ggufString, "llama")
	g.value("general.name", ggufString, "random")
	g.value("general.file_type", ggufUint32, uint32(0))
	for key, n := range map[string]uint32{"context_length": context, "embedding_length": width, "block_count": layers, "feed_forward_length": hidden,
		"attention.head_count": heads, "attention.head_count_kv": heads, "rope.dimension_count": width / heads} {
		g.value("llama."+key, ggufUint32, n)
	}
	g.value("llama.attention.layer_norm_rms_epsilon", ggufFloat32, float32(1e-5))
	vocabulary := vocabulary()
	g.tokenizer(vocabulary)
	g.weights(vocabulary)
	if err := os.WriteFile(path, g.file(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (g *gguf) tokenizer(vocabulary []token) {
	n := uint64(len(vocabulary))
	g.value("llama.vocab_size", ggufUint32, uint32(n))
	g.value("tokenizer.ggml.model", ggufString, "llama")
	var texts, scores, kinds []any
	for _, t := range vocabulary {
		texts, scores, kinds = append(texts, t.text), append(scores, t.score), append(kinds, t.kind)
	}
	g.value("tokenizer.ggml.tokens", ggufArray, append([]any{uint32(ggufString), n}, texts...)...)
	g.value("tokenizer.ggml.scores", ggufArray, append([]any{uint32(ggufFloat32), n}, scores...)...)
	g.value("tokenizer.ggml.token_type", ggufArray, append([]any{uint32(ggufInt32), n}, kinds...)...)
	for name, id := range map[string]uint32{"unknown": 0, "bos": 1, "eos": 2} {
		g.value("tokenizer.ggml."+name+"_token_id", ggufUint32, id)
	}
	g.value("tokenizer.ggml.add_bos_token", ggufBool, true)
}

func (g *gguf) weights(vocabulary []token) {
	one := func(int) float32 { return 1 }
	normal := func(int) float32 { return float32(g.random.NormFloat64() / math.Sqrt(width)) }
	letters := func(row int) float32 {
		if vocabulary[row].kind != normalToken {
			return 0
		}
		return normal(row)
	}
	g.tensor("token_embd.weight", width, len(vocabulary), normal)
	for n := range layers {
		block := fmt.Sprintf("blk.%d.", n)
		g.tensor(block+"attn_norm.weight", width, 0, one)
		for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
			g.tensor(block+name+".weight", width, width, normal)
		}
		g.tensor(block+"ffn_norm.weight", width, 0, one)
		g.tensor(block+"ffn_gate.weight", width, hidden, normal)
		g.tensor(block+"ffn_up.weight", width, hidden, normal)
		g.tensor(block+"ffn_down.weight", hidden, width, normal)
	}
	g.tensor("output_norm.weight", width, 0, one)
	g.tensor("output.weight", width, len(vocabulary), letters)
}
