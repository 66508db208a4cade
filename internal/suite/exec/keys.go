package exec

import (
	"reflect"

	"github.com/accelgate/accelgate/internal/config"
)

// keys describes the keys of this kind.
var keys = config.Keys{
	reflect.TypeFor[body](): {
		"command": {Text: "Program and its arguments, without a shell. `{benchmark}` is the name, `{regexp}` its regular " +
			"expression, `{output}` a fresh folder. Without the first two, one process measures [several " +
			"benchmarks](exec.md#one-process-for-all)."},
		"read": {Text: "Report of the harness. Required. A plain value stands for the format."},
		"benchmarks": {Absent: everyBenchmark, Text: "`all`, or names as the harness reports them: without `-8` for Go " +
			"(with it where `-cpu` lists several), the command or `--command-name` for hyperfine, `fullname` for " +
			"pytest, `TITLE/NAME` for nanobench, `NAME/AXIS=VALUE,...` for nvbench, `CLASS.METHOD:PARAM=VALUE,...` for " +
			"JMH, `FullName` for BenchmarkDotNet, `TEST CASE/BENCHMARK` for Catch2 where the name is not unique, title " +
			"and description for torch.utils.benchmark."},
		"list":     {Text: "Command that runs every benchmark briefly, for `all`. If absent, `command` with `.*` for `{regexp}`."},
		"exclude":  {Text: "Globs on names of benchmarks that `all` leaves out. They are reported as skipped."},
		"prefix":   {Text: "Text before the names in ids, as in `sorting.`, to keep ids unique."},
		"dir":      {Text: "Folder in which children start. If absent, that of the configuration."},
		"env":      {Text: "Variables of every child."},
		"unset":    {Text: "Variables that no child inherits, by name or glob."},
		"repeats":  {Absent: defaultRepeats, Text: "Processes per benchmark, up to 1000."},
		"timeout":  {Absent: "15m", Text: "Limit of one process."},
		"tags":     {Text: "Lists of globs on names of benchmarks, by tag, for `--tags`."},
		"profiles": {Text: "Lists of globs on names of benchmarks, by profile, for `--profile`."},
	},
	reflect.TypeFor[source](): {
		"format": {Text: "`gobench`, `googlebench` (JSON), `hyperfine` (`--export-json`), `nanobench` (template " +
			"`json`), `nvbench` (`--json`), `pytest-benchmark` (`--benchmark-json`), `criterion` (output of `cargo " +
			"bench`), `jmh` (`-rf json`), `benchmarkdotnet` (`JsonExporter`), `catch2` (`-r xml`), `torch-benchmark` " +
			"(printed `Measurement`); see [formats](formats.md). Required."},
		"file": {Text: "Name of a file in `{output}`. If absent, standard output."},
	},
}
