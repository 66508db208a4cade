package formats

import "strings"

func isBenchmarkDotNet(o object) bool { return o.has("HostEnvironmentInfo", "Benchmarks") }

// benchmarkDotNet reads the JSON of BenchmarkDotNet's exporters (JsonExporter.Brief, Full, and their compressed forms). The
// name is FullName, "Namespace.Type.Method(parameters)", with the job behind it where a method was measured by several. All
// times are nanoseconds of an operation; a benchmark that failed has no statistics. Allocations need the MemoryDiagnoser.
func benchmarkDotNet(out []byte) ([]Benchmark, error) {
	var result struct {
		Benchmarks []struct {
			DisplayInfo string
			FullName    string
			Statistics  *struct {
				Median *float64
			}
			Memory *struct {
				BytesAllocatedPerOperation *float64
			}
		}
	}
	if err := harnessJSON(out, &result); err != nil {
		return nil, err
	}
	times := map[string]int{}
	for _, b := range result.Benchmarks {
		times[b.FullName]++
	}
	var all repetitions
	for _, b := range result.Benchmarks {
		name := b.FullName
		if times[name] > 1 {
			_, job, _ := strings.Cut(b.DisplayInfo, ": ")
			name += ":" + strings.TrimSpace(job)
		}
		var err error
		if b.Statistics == nil || b.Statistics.Median == nil {
			err = all.fail(name, "BenchmarkDotNet has no statistics of it: see its log for the exception")
		} else {
			values := []Value{{"time_ns", *b.Statistics.Median}}
			if b.Memory != nil && b.Memory.BytesAllocatedPerOperation != nil {
				values = append(values, Value{"alloc_bytes", *b.Memory.BytesAllocatedPerOperation})
			}
			err = all.once(name, values...)
		}
		if err != nil {
			return nil, err
		}
	}
	return all.benchmarks(), nil
}
