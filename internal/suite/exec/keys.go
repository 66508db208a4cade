package exec

import (
	"reflect"

	"github.com/accelgate/accelgate/internal/config"
)

// keys describes the keys of this kind.
var keys = config.Keys{
	reflect.TypeFor[body](): {
		"command": {
			Text: "The program and its arguments, which no shell interprets. `{benchmark}` is the name, `{regexp}` the name as a regular expression, " +
				"`{output}` a fresh folder. Without the first two, one process measures [several benchmarks](exec.md#one-process-for-all): the argument `{benchmarks}` " +
				"becomes a list of the selected ones, or of none for all, and `{regexps}` one expression for them.",
		},
		"read": {Text: "Where the harness reports its values. Required. A plain value stands for the format."},
		"benchmarks": {Absent: everyBenchmark, Text: "`all`, or a list of names as the harness reports them: " +
			"without `-8` for Go (with it where `-cpu` lists several), NAME or `PACKAGE.NAME`, " +
			"the command or `--command-name` for hyperfine, `fullname` for pytest, `TITLE/NAME` for nanobench, `NAME/AXIS=VALUE,...` for nvbench, `CLASS.METHOD:PARAM=VALUE,...` for JMH, `FullName` for BenchmarkDotNet, " +
			"`TEST CASE/BENCHMARK` for Catch2 where several test cases have the name, title and description for torch.utils.benchmark."},
		"list": {Text: "Command that runs every benchmark once, as briefly as the harness can, for `benchmarks: all`. " +
			"Its result is read as `read` says. " +
			"If absent, `command` with `.*` for `{regexp}`."},
		"exclude":  {Text: "Globs on names of benchmarks that `benchmarks: all` leaves out. Each is reported as skipped."},
		"prefix":   {Text: "Text before the names of benchmarks in ids, as in `sorting.`: an id may occur once in a configuration."},
		"dir":      {Text: "Folder in which children start. If absent, that of the configuration."},
		"env":      {Text: "Variables of every child."},
		"unset":    {Text: "Variables that no child inherits, by name or glob (letter case counts)."},
		"repeats":  {Absent: defaultRepeats, Text: "Processes per benchmark, up to 1000."},
		"timeout":  {Absent: "15m", Text: "Bound for one process."},
		"tags":     {Text: "Lists of globs on names of benchmarks, by tag, for `--tags`."},
		"profiles": {Text: "Lists of globs on names of benchmarks, by profile, for `--profile`."},
	},
	reflect.TypeFor[source](): {
		"format": {
			Text: "Format of the values: `gobench`, `googlebench` (JSON), `hyperfine` (`--export-json`), `nanobench` (its template `json`), `nvbench` (`--json`), `pytest-benchmark` (`--benchmark-json`), " +
				"`criterion` (what `cargo bench` prints), `jmh` (`-rf json`), `benchmarkdotnet` (`JsonExporter`), `catch2` (`-r xml`), `torch-benchmark` (printed `Measurement`); see [formats](formats.md). Required.",
		},
		"file": {Text: "Name of a file in `{output}`. If absent, standard output."},
	},
}
