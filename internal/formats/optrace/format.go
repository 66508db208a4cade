package optrace

import (
	"cmp"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// Formats are the readers by name. The map must not be changed.
//
//	name                what it reads
//	msmodeling-metrics  the file of ModelRunnerMetrics.dump_json, in full precision
//	msmodeling-table    what msmodeling prints, with its logs, in three decimals
//	msmodeling-trace    its --chrome-trace-file, in whole microseconds
//	torch-trace         the file of PyTorch's export_chrome_trace, .gz or not, or torch_npu's trace_view.json
//	torch-table         what PyTorch's prof.key_averages().table() returns
//	json                an object with operators, as the embedded engine prints it
//
// The facts are those of Ascend/msmodeling (runtime.py, model_runner.py),
// pytorch/pytorch (torch/autograd/profiler_util.py), pytorch/kineto
// (ActivityType.cpp, output_json.cpp) and published traces of torch_npu, all of
// 2025 and 2026.
var Formats = map[string]Reader{
	"json":               plainJSON,
	"msmodeling-metrics": simulatorMetrics,
	"msmodeling-table":   simulatorTable,
	"msmodeling-trace":   simulatorTrace,
	"torch-table":        torchTable,
	"torch-trace":        torchTrace,
}

// Of returns the reader of a format that reads what one performance model of the simulator says, such as
// "analytic" or "empirical", and refuses what has nothing of it. A format without such models, and
// the model "", is read as [Formats] does.
func Of(format, model string) Reader {
	read := map[string]func([]byte, string) (*Profile, error){
		"msmodeling-metrics": simulatorMetricsOf, "msmodeling-table": simulatorTableOf, "msmodeling-trace": simulatorTraceOf}[format]
	if read == nil || model == "" {
		return Formats[format]
	}
	return func(data []byte) (*Profile, error) { return read(data, model) }
}

// Metrics describes total_time_s, the total, and everything that Values may
// hold. A metric is the same quantity in each format that has it. The total is
// the only one that is gated. The slice must not be changed.
var Metrics = []bench.Metric{
	{Name: "total_time_s", Unit: "s", Better: bench.Lower}, // sum over operators
	informational("execution_time_s", "s", bench.Lower),    // first start to last end
	informational("critical_path_s", "s", bench.Lower),     // see Profile.CriticalPath
	informational("device_busy_s", "s", bench.Lower),       // at least one stream of a device at work, summed over devices
	informational("run_time_s", "s", bench.Lower),          // what the simulator itself took
	informational("tps", "tok/s", bench.Higher),            // per device
	informational("memory_total_device_gb", "GB", bench.Lower),
	informational("memory_model_weight_gb", "GB", bench.Lower),
	informational("memory_peak_usage_gb", "GB", bench.Lower),
	informational("memory_kv_cache_gb", "GB", bench.Lower),
	informational("memory_kv_cache_per_token_gb", "GB", bench.Lower),
	informational("memory_model_activation_gb", "GB", bench.Lower),
	informational("memory_reserved_gb", "GB", bench.Lower),
	informational("memory_available_gb", "GB", bench.Higher), // below 0 where the model does not fit
	informational("kv_cache_token_capacity_factor", "", bench.Higher),
}

func informational(name, unit string, better bench.Direction) bench.Metric {
	return bench.Metric{Name: name, Unit: unit, Better: better, Informational: true}
}

// values orders by name. Of several values of one metric the first counts.
func values(list []Value) []Value {
	slices.SortStableFunc(list, func(a, b Value) int { return cmp.Compare(a.Metric, b.Metric) })
	return slices.CompactFunc(list, func(a, b Value) bool { return a.Metric == b.Metric })
}
