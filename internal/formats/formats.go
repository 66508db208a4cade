// Package formats reads what other tools print and save: one file a tool, one
// entry of a table a format, and two doors. [Outputs] reads the output of a
// program that a suite started, or [Harnesses] where it is a harness of benchmarks;
// [ReadFile] reads a file that a load generator saved, as a [bench.Run]. Where a format has both, they share its rules, so that
// numbers are the same whichever way they come. Files whose tools have rooms of
// their own are in the folders below. Everything here is hostile and bounded.
//
// For a format that a suite describes itself, [Document] and [Extractor] take values
// out of any output by paths and patterns. Three cases stay apart everywhere: a value
// that is missing (ok is false), a value that is there and unusable (an error), and
// a value that is zero.
package formats

// format is what one tool prints or saves; a nil door is one that it has not.
type format struct {
	name   string
	output Format
	is     func(object) bool // whether a saved document is of this format
	read   func(*builder, object) error
	// benchmarks reads the benchmarks of a harness, which names them itself.
	benchmarks func([]byte) ([]Benchmark, error)
}

// formats in the order in which saved files are asked. SGLang's generator began as a
// copy of vLLM's and differs by counts that only it prints.
var formats = []format{
	{name: "sglang", output: sglang, is: isSGLang, read: readSGLang},
	{name: "vllm", output: vllm, is: isVLLM, read: readVLLM},
	{name: "guidellm", is: isGuideLLM, read: readGuideLLM},
	{name: "llama-benchy", is: isBenchy, read: readBenchy},
	{name: "llama-bench", output: llamaBench, is: func(o object) bool { return o.has("avg_ts", "n_prompt", "n_gen") }, read: readLlamaBench},
	{name: "inference-perf", is: func(o object) bool { return o.has("load_summary", "successes") }, read: readInferencePerf},
	{name: "llmperf", is: isLLMPerf, read: readLLMPerf},
	{name: "aiperf", is: isAIPerf, read: readAIPerf},
	{name: "tensorsharp", output: tensorSharp},
	{name: "gobench", benchmarks: goBench},
	{name: "googlebench", benchmarks: googleBench},
	{name: "hyperfine", benchmarks: hyperfine},
	{name: "nvbench", benchmarks: nvbench},
	{name: "pytest-benchmark", benchmarks: pytestBenchmark},
}

func outputs() map[string]Format {
	all := map[string]Format{}
	for _, f := range formats {
		if f.output != nil {
			all[f.name] = f.output
		}
	}
	return all
}
