package bench

import "slices"

// The resources that are measured of all cells, without a key.
const (
	CPUTime          = "cpu_s"
	PeakRSS          = "peak_rss_mib"
	PeakDeviceMemory = "peak_device_memory_mib"
	CPUEnergy        = "cpu_energy_j"
	LoadTime         = "load_s"
	CPUWait          = "cpu_wait_s"
	OffCPU           = "off_cpu_s"
	CPUThreads       = "cpu_threads"
	Instructions     = "instructions"
)

var resources = []Metric{
	{Name: CPUTime, Unit: "s", Better: Lower, Informational: true,
		Definition: "user and system time of the process tree, by wait4: the program, the descendants that it waited for, and on Linux its orphans"},
	{Name: CPUWait, Unit: "s", Better: Lower, Informational: true,
		Definition: "time for which threads of the process tree were ready to run and had no processor, added up, by the counters of Linux"},
	{Name: OffCPU, Unit: "s", Better: Lower, Informational: true,
		Definition: "wall time in which no thread of the process tree ran or was ready to run, by looks at their states on Linux"},
	{Name: CPUThreads, Better: Lower, Informational: true,
		Definition: "threads of the process tree that computed at once, on average, by looks at their states on Linux"},
	{Name: Instructions, Better: Lower, Informational: true,
		Definition: "instructions that the process tree retired in user mode, by the processor's counters (perf_event_open) on Linux, which most virtual machines do not have"},
	{Name: PeakRSS, Unit: "MiB", Better: Lower, Informational: true,
		Definition: "largest resident set of any single process of the tree, by wait4; no sum over processes"},
	{Name: PeakDeviceMemory, Unit: "MiB", Better: Lower, Informational: true,
		Definition: "largest memory in use on each device of the cell, by all programs, summed over the devices, as the watch on the host's health polls it: nvidia-smi once a second, amd-smi, rocm-smi and npu-smi every 10 s"},
	{Name: CPUEnergy, Unit: "J", Better: Lower, Informational: true,
		Definition: "energy of all processor packages and their memory during the cell, of all programs, by the counters of RAPL before and after it"},
	{Name: LoadTime, Unit: "s", Better: Lower, Informational: true,
		Definition: "time from the start of the persistent process that served the cell to its first answer"},
}

// Resource describes the resource of that name; nil if there is no such resource. It is judged only
// in cells for which a suite's limits name it.
func Resource(name string) *Metric {
	i := slices.IndexFunc(resources, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	m := resources[i]
	return &m
}

// ResourceNames are the names that [Resource] describes.
func ResourceNames() (names []string) {
	for i := range resources {
		names = append(names, resources[i].Name)
	}
	return names
}

// IsResource reports whether m is what [Resource] describes, and not a metric of a suite
// that has the name as well.
func (m *Metric) IsResource() bool {
	r := Resource(m.Name)
	return r != nil && r.Definition == m.Definition
}

// Use records what a measurement used of a resource. A caveat is the reason why the value is not
// exact.
func (r *Result) Use(resource string, value float64, caveat string) {
	r.Resources = append(r.Resources, Sample{Metric: resource, Values: []float64{value}, Caveat: caveat})
}

// Used returns the sample of a resource, whether a limit names it or not; nil where it was not
// measured.
func (r *Result) Used(resource string) *Sample {
	i := slices.IndexFunc(r.Resources, func(s Sample) bool { return s.Metric == resource })
	if i < 0 {
		return r.Sample(resource)
	}
	return &r.Resources[i]
}

// Promote makes a resource a sample of the result, as it is where a limit names it. A
// sample of the same name stays as it is.
func (r *Result) Promote(resource string) {
	i := slices.IndexFunc(r.Resources, func(s Sample) bool { return s.Metric == resource })
	if i < 0 || r.Sample(resource) != nil {
		return
	}
	r.Samples = append(r.Samples, r.Resources[i])
	r.Resources = slices.Delete(r.Resources, i, i+1)
}
