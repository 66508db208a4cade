// Package formats reads what other tools print and save: one file a tool, one
// entry of a table a format, and two doors. [Outputs] reads the output of a
// program that a suite started, or [Harnesses] where it is a harness of benchmarks;
// [ReadFile] reads a file that a tool saved, as a [bench.Run]. Where a format has both, they share its rules, so that
// numbers are the same whichever way they come. What lists benchmarks, tasks or tests
// under names of its own is read into a sheet, which has both doors. Files whose tools have rooms of
// their own are in the folders below. Everything here is hostile and bounded.
//
// For a format that a suite describes itself, [Document] and [Extractor] take values
// out of any output by paths and patterns. Three cases stay apart everywhere: a value
// that is missing (ok is false), a value that is there and unusable (an error), and
// a value that is zero.
package formats

import "slices"

// format is what one tool prints or saves; a nil door is one that it has not.
type format struct {
	name    string
	output  Format
	answers bool              // the output holds the answer of a model, and says which part it is
	is      func(object) bool // whether a saved document is of this format
	text    func([]byte) bool // whether a saved file is, that is no JSON
	read    func(*builder, object) error
	// benchmarks reads the benchmarks of a harness, which names them itself.
	benchmarks func([]byte) ([]Benchmark, error)
	// list reads what a file lists under names of its own, with its metrics.
	list func([]byte) (*sheet, error)
}

// imported reports whether [ReadFile] reads the format.
func (f *format) imported() bool { return f.read != nil || f.benchmarks != nil || f.list != nil }

// formats in the order in which saved files are asked. SGLang's generator began as a
// copy of vLLM's and differs by counts that only it prints. A format that has no rule
// has content like that of another one: its name chooses it.
var formats = []format{
	{name: "sglang", output: sglang, is: isSGLang, read: readSGLang},
	{name: "vllm", output: vllm, is: isVLLM, read: readVLLM},
	{name: "guidellm", is: isGuideLLM, read: readGuideLLM},
	{name: "llama-benchy", is: isBenchy, read: readBenchy},
	{
		name:   "llama-bench",
		output: llamaBench,
		is:     func(o object) bool { return o.has("avg_ts", "n_prompt", "n_gen") },
		read:   readLlamaBench,
	},
	{name: "inference-perf", is: func(o object) bool { return o.has("load_summary", "successes") }, read: readInferencePerf},
	{name: "llmperf", is: isLLMPerf, read: readLLMPerf},
	{name: "aiperf", is: isAIPerf, read: readAIPerf},
	{name: "tensorsharp", output: tensorSharp, answers: true},
	{name: "gobench", text: isGoBench, benchmarks: goBench},
	{name: "googlebench", is: func(o object) bool { return o.has("context", "benchmarks") }, benchmarks: googleBench},
	{name: "hyperfine", is: isHyperfine, benchmarks: hyperfine},
	{name: "nanobench", is: isNanobench, benchmarks: nanobench},
	{name: "nvbench", is: func(o object) bool { return o.has("meta", "benchmarks") }, benchmarks: nvbench},
	{name: "pytest-benchmark", is: func(o object) bool { return o.has("machine_info", "benchmarks") }, benchmarks: pytestBenchmark},
	{name: "criterion", is: isCriterion, text: isCriterionText, benchmarks: criterion},
	{name: "jmh", is: isJMH, benchmarks: jmh},
	{name: "benchmarkdotnet", is: isBenchmarkDotNet, benchmarks: benchmarkDotNet},
	{name: "catch2", text: isCatch2, benchmarks: catch2},
	{name: "torch-benchmark", text: isTorchBenchmark, benchmarks: torchBenchmark},
	{name: "lm-eval", output: listed(lmEval), is: isLMEval, list: lmEval},
	{name: "llama-perplexity", output: printedPerplexity, text: isPerplexity, list: perplexity},
	{name: "mlperf-loadgen", output: listed(mlperf), text: isMLPerf, list: mlperf},
	{name: "nccl-tests", output: listed(ncclTests), text: isNCCLTests, list: ncclTests},
	{name: "onnxruntime_perf_test", output: listed(ortPerfTest), text: isORTPerfTest, list: ortPerfTest},
	{name: "k6", output: listed(k6), is: isK6, list: k6},
	{name: "asv", output: listed(asv), is: isASV, list: asv},
	{name: "torch-table", text: isTorchTable, list: profile("torch-table")},
	{name: "torch-trace", is: isTorchTrace, text: isTorchTraceText, list: profile("torch-trace")},
	{name: "github-action-benchmark", output: listed(githubData), is: isGitHubCustom, text: isGitHubData, list: githubData},
	{name: "customBiggerIsBetter", output: listed(customBigger), list: customBigger},
	{name: "customSmallerIsBetter", output: listed(customSmaller), list: customSmaller},
	{name: "bmf", output: listed(bmf), is: isBMF, list: bmf}, // last: other files may have its form as well
}

// Answers reports whether the output of a program, by its name in [Outputs], says which part of it is the answer.
func Answers(name string) bool {
	return slices.ContainsFunc(formats, func(f format) bool { return f.name == name && f.answers })
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
