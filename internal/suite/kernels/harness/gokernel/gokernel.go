// Package gokernel is a worker of package kernel that computes in Go on the CPU,
// with nothing but the program that it is part of: a suite of kernels runs with
// it on any machine. Its kernels come in two versions, a plain one that follows
// the definition step by step, and a blocked one on all cores.
//
// A kernel computes in float32, or float64 where sums are long, and rounds once
// to the format of its output. Its result depends on neither the number of
// cores nor on earlier calls; only those that sample draw anew in each call,
// from a sequence that starts with the build. On another architecture the last
// bit of exp and log may differ.
package gokernel

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/tensor"
)

// call is one call of a kernel. Its tensors are valid.
type call struct {
	in, out []tensor.Tensor
	draw    uint64  // counts the calls since the build
	eps     float32 // of a norm
}

// builtin is a kernel that is registered under a name.
type builtin struct {
	minimum, maximum int // inputs
	outputs          int
	run              func(call) error
}

// builtins has all kernels. A name without "_blocked" is the plain version.
var builtins = map[string]builtin{
	"rmsnorm":                   {2, 2, 1, rmsnorm},
	"rmsnorm_blocked":           {2, 2, 1, rmsnormBlocked},
	"fused_add_rmsnorm":         {3, 3, 1, rmsnorm},
	"fused_add_rmsnorm_blocked": {3, 3, 1, rmsnormBlocked},

	"gemm":         {2, 2, 1, gemm},
	"gemm_blocked": {2, 2, 1, gemmBlocked},

	"gqa_paged_decode":         {6, 7, 2, gqaDecode},
	"gqa_paged_decode_blocked": {6, 7, 2, gqaDecodeBlocked},

	"rope":         {4, 4, 2, rope},
	"rope_blocked": {4, 4, 2, ropeBlocked},

	"top_k_sampling":               {2, 2, 1, topK},
	"top_k_sampling_blocked":       {2, 2, 1, topKBlocked},
	"top_p_sampling":               {2, 2, 1, topP},
	"top_p_sampling_blocked":       {2, 2, 1, topPBlocked},
	"top_k_top_p_sampling":         {3, 3, 1, topKTopP},
	"top_k_top_p_sampling_blocked": {3, 3, 1, topKTopPBlocked},
}

// families are the definitions of FlashInfer-Bench's dataset that a plain kernel
// computes, by the beginnings of their names.
var families = []struct{ prefix, name string }{
	{"rmsnorm_h", "rmsnorm"},
	{"fused_add_rmsnorm_h", "fused_add_rmsnorm"},
	{"gemm_n", "gemm"},
	{"gqa_paged_decode_h", "gqa_paged_decode"},
	{"rope_with_cos_sin_cache_neox_style_d", "rope"},
	{"top_k_sampling_from_probs_v", "top_k_sampling"},
	{"top_p_sampling_from_probs_v", "top_p_sampling"},
	{"top_k_top_p_sampling_from_probs_v", "top_k_top_p_sampling"},
}

// prefix begins the entry points of built-in kernels.
const prefix = "builtin::"

// EntryPoint returns the entry point of the plain kernel that computes a
// definition of FlashInfer-Bench's dataset, and whether there is one. With
// "_blocked" at its end it is that of the blocked kernel.
func EntryPoint(definition string) (entry string, ok bool) {
	for _, f := range families {
		if strings.HasPrefix(definition, f.prefix) {
			return prefix + f.name, true
		}
	}
	return "", false
}

// lookup finds a kernel by an entry point, "builtin::NAME" or
// "builtin::NAME?eps=VALUE".
func lookup(entry, definition string) (builtin, float32, error) {
	name, found := strings.CutPrefix(entry, prefix)
	name, query, hasQuery := strings.Cut(name, "?")
	b, known := builtins[name]
	if !found || !known {
		return b, 0, fmt.Errorf("no built-in kernel has the entry point %.80q: write %sgemm, say", entry, prefix)
	}
	if !hasQuery {
		return b, epsilon(definition), nil
	}
	value, isEps := strings.CutPrefix(query, "eps=")
	eps, err := strconv.ParseFloat(value, 32)
	if !isEps || err != nil || !(eps >= 0 && eps < 1) {
		return b, 0, fmt.Errorf("the entry point has %.40q after its name: write eps=1e-6, or nothing", query)
	}
	return b, float32(eps), nil
}

// epsilon is what the norms of the dataset add to the mean square: 1e-6, but for
// the two definitions that were captured from Llama 3.1 8B.
func epsilon(definition string) float32 {
	if strings.HasSuffix(definition, "rmsnorm_h4096") {
		return 1e-5
	}
	return 1e-6
}

func (b builtin) accepts(inputs, outputs int) bool {
	return inputs >= b.minimum && inputs <= b.maximum && outputs == b.outputs
}

// misfit returns the error of tensors that do not go together.
func misfit(kernel string, tensors ...tensor.Tensor) error {
	var shapes []string
	for _, t := range tensors {
		shapes = append(shapes, fmt.Sprintf("%s%v", t.DType, t.Shape))
	}
	return fmt.Errorf("%s does not take these tensors together: %s", kernel, strings.Join(shapes, ", "))
}
