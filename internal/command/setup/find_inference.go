package setup

import (
	"context"
	"path"
	"strings"

	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/text"
)

// llamaProgram is the benchmark of llama.cpp.
const llamaProgram = "llama-bench"

// llamaBench finds llama.cpp's benchmark, built here or installed, and a model for it.
func (r *repository) llamaBench(context.Context) ([]Suite, error) {
	program := ""
	if built := r.programs(func(base string) bool { return base == llamaProgram }); len(built) > 0 {
		program = local(built[0])
	} else if r.has(llamaProgram) {
		program = llamaProgram
	} else {
		return nil, nil
	}
	models := r.files.Named(func(base string) bool {
		base = strings.ToLower(base)
		return strings.HasSuffix(base, ".gguf") && !strings.Contains(base, "vocab") && !strings.Contains(base, "mmproj")
	})
	if len(models) > 0 {
		return []Suite{r.llamaSuite(program, local(models[0]))}, nil
	}
	s := r.llamaSuite(program, "/models/MODEL.gguf")
	s.Missing = "write the path of a GGUF file"
	s.Model = &Model{
		Question: "Path of a GGUF model for " + text.OneLine(program),
		With:     func(model string) Suite { return r.llamaSuite(program, model) },
	}
	return []Suite{s}, nil
}

func (r *repository) llamaSuite(program, model string) Suite {
	s := Suite{Name: "llama", Title: "llama-bench (" + text.OneLine(program) + ") with " + text.OneLine(path.Base(model))}
	if strings.HasPrefix(program, "./build/") && r.files.Has("CMakeLists.txt") {
		s.Build = "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build --target llama-bench"
	}
	s.Body = []string{
		"kind: models", "preset: llama-bench",
		"vars: {llama_bench: " + scalar(program) + "}",
		"models:",
		"  - {id: " + scalar(plain(strings.TrimSuffix(path.Base(model), ".gguf"), "model")) + ", vars: {path: " + scalar(model) + "}}",
		"select: {backends: [" + r.backend() + "], features: [pp512, tg128]}",
	}
	return s
}

// backend is the preset's backend for this host's accelerators.
func (r *repository) backend() string {
	for _, one := range []struct{ vendor, backend string }{{device.NVIDIA, "cuda"}, {device.AMD, "rocm"}, {device.Apple, "metal"}} {
		if r.accelerated(one.vendor) {
			return one.backend
		}
	}
	return "cpu"
}

// servingPrograms finds vLLM and SGLang, installed or required.
func (r *repository) servingPrograms(context.Context) (all []Suite, err error) {
	for _, p := range []struct{ program, title, features string }{
		{"vllm", "vLLM", "[latency-b1, throughput]"}, {"sglang", "SGLang", "[one-batch-b1, offline]"},
	} {
		if installed := r.has(p.program); installed || r.requires(p.program) {
			all = append(all, r.servingSuite(p.program, p.title, p.features, installed))
		}
	}
	return all, nil
}

func (r *repository) servingSuite(program, title, features string, installed bool) Suite {
	with := func(model string) Suite {
		return Suite{Name: program, Title: title + " with " + text.OneLine(model), Body: []string{
			"kind: models", "preset: " + program,
			"models:",
			"  - {id: " + scalar(plain(path.Base(model), "model")) + ", vars: {path: " + scalar(model) + "}}",
			"select: {backends: [" + r.gpuBackend() + "], features: " + features + "}",
		}}
	}
	s := with("Qwen/Qwen3-0.6B")
	s.Title = title
	switch {
	case !installed:
		s.Missing = "install " + title + ", and write the model"
	case !r.accelerated(device.NVIDIA, device.AMD):
		s.Missing = "measure on a host with an NVIDIA or AMD GPU, and write the model"
	default:
		s.Missing = "write the model"
		s.Model = &Model{Question: "Model for " + title + ", a name or a folder", With: with}
	}
	return s
}

func (r *repository) gpuBackend() string {
	if r.accelerated(device.AMD) {
		return "rocm"
	}
	return "cuda"
}

// requires reports whether a file of dependencies lists a package of Python.
func (r *repository) requires(name string) bool {
	for _, file := range r.files.Named(declaresPython) {
		for line := range strings.Lines(r.files.Content(file)) {
			rest, ok := strings.CutPrefix(strings.TrimLeft(strings.TrimSpace(line), `"'`), name)
			if ok && (rest == "" || strings.ContainsAny(rest[:1], "=<>~![;, \"'")) {
				return true
			}
		}
	}
	return false
}
