package worker

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// CPUs is the environment variable that names the processors on which a child, and what
// descends from it, runs: numbers and ranges as taskset(1) takes them, such as 0-7,16. It
// works on Linux and in containers. Elsewhere a child with it does not start.
const CPUs = "ACCELGATE_CPUS"

// maxCPU is the largest number of a processor that sched_setaffinity(2) takes here.
const maxCPU = 1023

// ParseCPUs returns the processors of a list such as 0-7,16, which has no spaces.
func ParseCPUs(list string) (cpus []int, err error) {
	for part := range strings.SplitSeq(list, ",") {
		low, high, ranged := strings.Cut(part, "-")
		first, err := strconv.ParseUint(low, 10, 16)
		last := first
		if ranged && err == nil {
			last, err = strconv.ParseUint(high, 10, 16)
		}
		if err != nil || last < first || last > maxCPU {
			return nil, fmt.Errorf("%s is not a list of processors: write numbers up to %d and ranges, such as 0-7,16",
				text.Quote(list, 80), maxCPU)
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, int(cpu))
		}
	}
	return cpus, nil
}

// onCPUs calls start such that the process that it starts runs on the processors, and takes
// memory from the NUMA nodes, that its environment names; those of this process where it names none.
func onCPUs(environ []string, start func() error) error {
	b, err := bindingOf(environ, "/")
	if err != nil {
		return err
	}
	if b.cpus == nil && b.nodes == nil {
		return start()
	}
	return startOn(b, start)
}
