package engine

import "golang.org/x/sys/unix"

// maxProcessor is the size of a [unix.CPUSet].
const maxProcessor = 1024

// processors are the first of those that this process may use, at most so many.
func processors(maximum int) (list []int) {
	var allowed unix.CPUSet
	if unix.SchedGetaffinity(0, &allowed) != nil {
		return []int{-1}
	}
	for cpu := 0; cpu < maxProcessor && len(list) < maximum; cpu++ {
		if allowed.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	return list
}

// bindThread moves this thread to a processor. It stays where it is if that is refused.
func bindThread(processor int) {
	if processor < 0 {
		return
	}
	var one unix.CPUSet
	one.Set(processor)
	_ = unix.SchedSetaffinity(0, &one)
}
