package worker

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// startOn moves this thread to processors and memory for the time of start: a child inherits those
// of the thread that forks it. See sched_setaffinity(2) and set_mempolicy(2).
func startOn(b binding, start func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	back, err := runOn(b)
	if err != nil {
		return err
	}
	defer back()
	back, err = takeFrom(b.nodes)
	if err != nil {
		return err
	}
	defer back()
	return start()
}

// runOn moves this thread to the processors, until back is called.
func runOn(b binding) (back func(), err error) {
	if len(b.cpus) == 0 {
		return func() {}, nil
	}
	var before, wanted unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return nil, fmt.Errorf("ask for the processors of this process: %w", err)
	}
	for _, cpu := range b.cpus {
		if before.IsSet(cpu) {
			wanted.Set(cpu)
		} else if !b.loose {
			return nil, fmt.Errorf("processor %d is not one that accelgate may use: correct cpus, or start accelgate without taskset or a narrower cpuset", cpu)
		}
	}
	if wanted.Count() == 0 {
		return nil, fmt.Errorf(
			"accelgate may use no processor of the NUMA nodes %v: correct numa, or start accelgate without taskset or a narrower cpuset",
			b.nodes)
	}
	if err := unix.SchedSetaffinity(0, &wanted); err != nil {
		return nil, fmt.Errorf("move to processors: %w", err)
	}
	return func() {
		if unix.SchedSetaffinity(0, &before) != nil { // the cpuset has other processors by now
			before.Fill()
			_ = unix.SchedSetaffinity(0, &before) // the kernel leaves out those that are not in it
		}
	}, nil
}

// mpolBind is MPOL_BIND of linux/mempolicy.h: memory of other nodes is never taken.
const mpolBind = 2

// nodeMask is a set of NUMA nodes as set_mempolicy(2) takes it.
type nodeMask [(maxCPU + 1) / 64]uint64

// takeFrom binds the memory of this thread to nodes, until back is called.
func takeFrom(nodes []int) (back func(), err error) {
	if len(nodes) == 0 {
		return func() {}, nil
	}
	var before, wanted nodeMask
	var mode int32
	if _, _, e := unix.Syscall6(unix.SYS_GET_MEMPOLICY, uintptr(unsafe.Pointer(&mode)), uintptr(unsafe.Pointer(&before)),
		maxCPU+1, 0, 0, 0); e != 0 {
		return nil, bound(e, nodes)
	}
	for _, node := range nodes {
		wanted[node/64] |= 1 << (node % 64)
	}
	if e := setMemory(mpolBind, &wanted); e != 0 {
		return nil, bound(e, nodes)
	}
	return func() { _ = setMemory(mode, &before) }, nil
}

// setMemory sets the policy. The kernel reads one bit less than the length says.
func setMemory(mode int32, mask *nodeMask) unix.Errno {
	_, _, e := unix.Syscall(unix.SYS_SET_MEMPOLICY, uintptr(mode), uintptr(unsafe.Pointer(mask)), maxCPU+2)
	return e
}

func bound(e unix.Errno, nodes []int) error {
	switch e {
	case unix.EPERM, unix.ENOSYS:
		return fmt.Errorf(
			"bind memory to NUMA nodes: %w: start the container that accelgate runs in with --cap-add SYS_NICE, or remove numa", e)
	case unix.EINVAL:
		return fmt.Errorf("accelgate may use no memory of the NUMA nodes %v: correct numa, or widen the cpuset of accelgate", nodes)
	}
	return fmt.Errorf("bind memory to NUMA nodes %v: %w", nodes, e)
}
