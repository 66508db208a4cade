package matrix_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// The catalogue of TensorSharp.TestMatrix at commit 4d29dd2b. A sweep's
// default that is none of its values is left empty.
const qwen35, qwenNext = `model.family startsWith "qwen35"`, `(model.family startsWith "qwen35" or model.family == "qwen3next")`

var catalogue = []struct{ env, values, standard, when string }{
	{"TS_GPTOSS_BATCHED", "0,1", "0", `model.family == "gptoss" and feature.kind in ["text", "uploaded text", "multi-turn", "synthetic decode"]`},
	{"TS_QWEN35_BATCHED", "0,1", "1", qwenNext},
	{"TS_QWEN35_BATCHED_GDN_NATIVE", "0,1", "0", qwenNext},
	{"TS_NEMOTRON_BATCHED", "0,1", "0", `model.family startsWith "nemotron"`},
	{"TS_GEMMA4_BATCHED", "0,1", "1", `model.family == "gemma4"`},
	{"TS_NEMOTRON_MAMBA2_BATCHED_NATIVE", "0,1", "0", `model.family startsWith "nemotron"`},
	{"TS_BATCHED_N1_FAST_PATH", "0,1", "0", ""},
	{"TS_SCHED_DISABLE_BATCHED", "0,1", "0", ""},
	{"KV_CACHE_DTYPE", "f32,f16,q8_0", "f32", ""},
	{"TS_KV_PAGED_QUANT_BITS", "0,4,8", "0", ""},
	{"MAX_CONTEXT", "4096,8192,16384", "", `feature in ["long_text", "uploaded_text"]`},
	{"TS_PREFILL_CHUNK", "256,512,1024", "", `(model.family == "gptoss" or ` + qwenNext + `) and feature in ["long_text", "uploaded_text", "pp2048"]`},
	{"GDN_DISABLE_CHUNKED_PREFILL", "0,1", "0", `model.family == "qwen3next"`},
	{"TS_GGML_ASYNC_COMPUTE", "0,1", "0", `backend startsWith "ggml"`},
	{"VIDEO_SAMPLE_FPS", "1,2", "1", `feature == "video"`},
	{"VIDEO_MAX_FRAMES", "8,16", "", `feature == "video"`},
	{"TS_NEMOTRON_IMAGE_MAX_TILES", "4,8,12", "", `model.family startsWith "nemotron" and feature == "image"`},
	{"TS_MLX_BATCHED_MOE_DECODE", "0,1", "0", `backend == "mlx" and ` + qwen35},
	{"TS_MLX_DEVICE_ROUTER", "0,1", "0", `backend == "mlx" and ` + qwen35},
	{"TS_MLX_PIPELINED_DECODE", "0,1", "1", `backend == "mlx" and feature.kind != "synthetic prefill"`},
	{"TS_MLX_DEVICE_KV_COPY", "0,1", "1", `backend == "mlx"`},
	{"TS_MLX_QWEN35_GDN_PACKED_KERNELS", "0,1", "0", `backend == "mlx" and ` + qwenNext},
}

var featureKinds = []struct{ id, kind string }{
	{"pp512", "synthetic prefill"}, {"pp2048", "synthetic prefill"}, {"tg128", "synthetic decode"}, {"short_text", "text"}, {"long_text", "text"},
	{"uploaded_text", "uploaded text"}, {"multi_turn", "multi-turn"}, {"tools", "tools"}, {"thinking", "thinking"}, {"image", "image"},
	{"audio", "audio"}, {"video", "video"},
}

// The sweeps that the configurations of 4d29dd2b and of simonsoanes's fork
// select.
var (
	upstream = strings.Fields(`TS_GPTOSS_BATCHED TS_QWEN35_BATCHED TS_NEMOTRON_BATCHED TS_GEMMA4_BATCHED TS_BATCHED_N1_FAST_PATH
		TS_SCHED_DISABLE_BATCHED KV_CACHE_DTYPE TS_KV_PAGED_QUANT_BITS MAX_CONTEXT TS_PREFILL_CHUNK TS_GGML_ASYNC_COMPUTE VIDEO_SAMPLE_FPS
		VIDEO_MAX_FRAMES TS_NEMOTRON_IMAGE_MAX_TILES TS_MLX_BATCHED_MOE_DECODE TS_MLX_DEVICE_ROUTER TS_MLX_PIPELINED_DECODE
		TS_MLX_QWEN35_GDN_PACKED_KERNELS`)
	fork = strings.Fields(`TS_SCHED_DISABLE_BATCHED KV_CACHE_DTYPE MAX_CONTEXT TS_PREFILL_CHUNK TS_GGML_ASYNC_COMPUTE VIDEO_SAMPLE_FPS
		VIDEO_MAX_FRAMES TS_NEMOTRON_IMAGE_MAX_TILES TS_MLX_BATCHED_MOE_DECODE`)
)

// tensorsharp is the matrix of one model of the family with what it can do
// beyond text.
func tensorsharp(t *testing.T, family, can string, backends, sweeps []string) matrix.Spec {
	t.Helper()
	s := matrix.Spec{NoisePairs: true, Axes: []matrix.Axis{
		{Key: "model", Values: []matrix.Value{{ID: family + "-model", Vars: map[string]string{"family": family}}}},
		{Key: "backend", Values: values(backends...)},
		{Key: "feature"},
	}}
	for _, f := range featureKinds {
		s.Axes[2].Values = append(s.Axes[2].Values, matrix.Value{ID: f.id, Vars: map[string]string{"kind": f.kind}})
	}
	for _, row := range catalogue {
		if !slices.Contains(sweeps, row.env) {
			continue
		}
		sweep := matrix.Sweep{Env: row.env, Values: strings.Split(row.values, ","), Default: row.standard}
		if row.when != "" {
			sweep.When = compile(t, row.when, s.Axes)
		}
		s.Sweeps = append(s.Sweeps, sweep)
	}
	s.Skip = func(c matrix.Combination) string {
		feature := c.Get("feature").ID
		needs := slices.Contains([]string{"tools", "thinking", "image", "audio", "video"}, feature)
		if needs && !slices.Contains(strings.Fields(can), feature) {
			return "the model has no " + feature
		}
		return ""
	}
	return s
}

// TestTensorSharpCounts checks the numbers of cells that TensorSharp measures,
// which counts a sweep's default once more as we do with noise pairs.
func TestTensorSharpCounts(t *testing.T) {
	linux := []string{"cpu", "ggml_cpu", "ggml_cuda", "cuda"}
	for _, c := range []struct {
		name, family, can string
		sweeps            []string
		plain, all, pairs int
	}{
		{"gemma4", "gemma4", "image audio video tools thinking", upstream, 48, 712, 268},
		{"qwen35", "qwen35", "image tools thinking", upstream, 40, 620, 220},
		{"gptoss", "gptoss", "thinking", upstream, 32, 484, 164},
		{"gemma4 of the fork", "gemma4", "image audio video tools thinking", fork, 48, 376, 124},
		{"gemma4 without sweeps", "gemma4", "image audio video tools thinking", nil, 48, 48, 0},
	} {
		s := tensorsharp(t, c.family, c.can, linux, c.sweeps)
		if len(s.Sweeps) != len(c.sweeps) {
			t.Fatalf("%s: the catalogue has %d of %d sweeps", c.name, len(s.Sweeps), len(c.sweeps))
		}
		var plain, all, pairs, skipped int
		for _, p := range expand(t, s) {
			switch {
			case p.Skip != "":
				skipped++
				continue
			case p.Cell.Get("env") == matrix.Plain:
				plain++
			case p.Partner != "":
				pairs++
			}
			all++
		}
		if plain != c.plain || all != c.all || pairs != c.pairs || plain+skipped != len(linux)*len(featureKinds) {
			t.Errorf("%s: %d plain, %d in all, %d pairs, %d skipped; want %d, %d, %d and the rest of 48", c.name, plain, all, pairs, skipped, c.plain, c.all, c.pairs)
		}
		s.NoisePairs = false
		if measured := len(expand(t, s)) - skipped; measured != c.all-c.pairs {
			t.Errorf("%s: %d cells without pairs, want %d", c.name, measured, c.all-c.pairs)
		}
	}
}

// TestTensorSharpFirstIDs pins order and ids of the beginning.
func TestTensorSharpFirstIDs(t *testing.T) {
	s := tensorsharp(t, "gemma4", "", []string{"ggml_cuda"}, upstream)
	s.Axes[0].Values[0].ID = "gemma-4-e4b-it-q8_0"
	want := "baseline TS_GEMMA4_BATCHED=0 TS_GEMMA4_BATCHED=1 TS_BATCHED_N1_FAST_PATH=0 TS_BATCHED_N1_FAST_PATH=1 TS_SCHED_DISABLE_BATCHED=0 " +
		"TS_SCHED_DISABLE_BATCHED=1 KV_CACHE_DTYPE=f32 KV_CACHE_DTYPE=f16 KV_CACHE_DTYPE=q8_0 TS_KV_PAGED_QUANT_BITS=0 " +
		"TS_KV_PAGED_QUANT_BITS=4 TS_KV_PAGED_QUANT_BITS=8 TS_GGML_ASYNC_COMPUTE=0 TS_GGML_ASYNC_COMPUTE=1"
	points := expand(t, s)
	for i, last := range strings.Fields(want) {
		if got, want := points[i].Cell.ID(), "gemma-4-e4b-it-q8_0__ggml_cuda__pp512__"+last; got != want {
			t.Errorf("cell %d is %s, want %s", i, got, want)
		}
	}
}

// TestTensorSharpSelections compares the names above with the real
// configurations.
func TestTensorSharpSelections(t *testing.T) {
	dir := testtier.Data(t, "real selections were NOT compared", "tensorsharp/matrix-config.4d29dd2b.json")
	for file, want := range map[string][]string{"matrix-config.4d29dd2b.json": upstream, "matrix-config.fork-simonsoanes.f3b8265f.json": fork} {
		data, err := os.ReadFile(filepath.Join(dir, "tensorsharp", file))
		if err != nil {
			t.Fatal(err)
		}
		var config struct {
			Sweeps []string `json:"default_env_vars"`
		}
		if err := json.Unmarshal(data, &config); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(config.Sweeps, want) {
			t.Errorf("%s selects %v, want %v", file, config.Sweeps, want)
		}
	}
}
