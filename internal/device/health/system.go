package health

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// system reads what Linux says of its processors.
type system struct {
	root      string
	pid       int
	bases     map[int]float64 // base frequency of each processor that tells it, MHz
	throttles []string        // files that count thermal throttling, one for each package
	thermals  []string        // files with a temperature of the processors
}

// newSystem finds out which files there are. A missing one is not read later.
func newSystem(root string, pid int) system {
	s := system{root: root, pid: pid, bases: map[int]float64{}}
	folders, _ := filepath.Glob(filepath.Join(root, "sys/devices/system/cpu/cpu[0-9]*"))
	packages := map[string]bool{}
	for _, folder := range folders {
		n, ok := number(strings.TrimPrefix(filepath.Base(folder), "cpu"))
		if !ok {
			continue
		}
		if mhz, ok := baseOf(folder); ok {
			s.bases[n] = mhz
		}
		count := filepath.Join(folder, "thermal_throttle", "package_throttle_count")
		name, _ := read(filepath.Join(folder, "topology", "physical_package_id"))
		if _, err := read(count); err == nil && !packages[string(name)] {
			packages[string(name)] = true
			s.throttles = append(s.throttles, count)
		}
	}
	s.thermals = thermals(root)
	return s
}

// baseOf returns the frequency that a processor keeps for any length of time:
// base_frequency in kHz (intel_pstate, Documentation/admin-guide/pm), or
// nominal_freq in MHz (acpi_cppc, sysfs-devices-system-cpu).
func baseOf(folder string) (mhz float64, ok bool) {
	if v, ok := readQuantity(filepath.Join(folder, "cpufreq", "base_frequency")); ok && v > 0 {
		return v / 1000, true
	}
	v, ok := readQuantity(filepath.Join(folder, "acpi_cppc", "nominal_freq"))
	return v, ok && v > 0
}

// thermals finds the zones of processors by their types, such as "x86_pkg_temp"
// and "cpu-thermal".
func thermals(root string) (files []string) {
	zones, _ := filepath.Glob(filepath.Join(root, "sys/class/thermal/thermal_zone*"))
	for _, zone := range zones {
		kind, _ := read(filepath.Join(zone, "type"))
		if bytes.Contains(kind, []byte("pkg")) || bytes.Contains(kind, []byte("cpu")) {
			files = append(files, filepath.Join(zone, "temp"))
		}
	}
	return files
}

// machine is one look at the processors.
type machine struct {
	at       time.Time
	all      ticks
	each     map[int]ticks
	own      uint64  // ticks that this process and all below it have used
	throttle float64 // times, of all packages
	waited   float64 // seconds for which some process waited for a processor
	pressed  bool    // waited is known
	load     float64
	err      error // why all and own are not known
}

func (s *system) look(at time.Time) machine {
	m := machine{at: at}
	data, err := read(filepath.Join(s.root, "proc/stat"))
	if err == nil {
		m.all, m.each, err = parseStat(data)
	}
	if err == nil {
		m.own, err = s.used()
	}
	if m.err = err; err != nil {
		return m
	}
	for _, file := range s.throttles {
		n, _ := readQuantity(file)
		m.throttle += n
	}
	if data, err := read(filepath.Join(s.root, "proc/pressure/cpu")); err == nil {
		m.waited, m.pressed = parsePressure(data)
	}
	data, _ = read(filepath.Join(s.root, "proc/loadavg"))
	m.load, _ = parseLoad(data)
	return m
}

// maxTree is more processes than a cell starts.
const maxTree = 1 << 16

// errUnseen means that a process of the run is there and tells nothing. Its ticks
// would be taken for those of others.
var errUnseen = errors.New("a process of this run cannot be seen, or many end at once")

// maxWalks bounds how often the tree is gone through again because processes
// ended meanwhile.
const maxWalks = 10

// used adds up the ticks of this process, of its children that ended, and of all
// processes below it that run. What ends between two looks is in neither of them,
// so only a walk that saw all listed processes counts.
func (s *system) used() (total uint64, err error) {
	for range maxWalks {
		if total, err = s.walk(); !errors.Is(err, errUnseen) {
			break
		}
	}
	return total, err
}

// walk looks for children before it reads what their parent has used: one that
// ends in between is in its parent's count then.
func (s *system) walk() (total uint64, err error) {
	seen := map[int]bool{}
	for next := []int{s.pid}; len(next) > 0; {
		pid := next[0]
		next = next[1:]
		if seen[pid] || len(seen) == maxTree {
			continue
		}
		seen[pid] = true
		below, err := s.children(pid)
		data, _ := read(s.process(pid, "stat"))
		_, used, ok := parseProcess(data)
		switch {
		case !ok && pid == s.pid:
			return 0, fmt.Errorf("/proc/%d/stat cannot be read", pid)
		case err != nil && pid == s.pid:
			return 0, err
		case !ok || err != nil:
			return 0, errUnseen
		}
		total += used
		next = append(next, below...)
	}
	return total, nil
}

func (s *system) process(pid int, name string) string {
	return filepath.Join(s.root, "proc", strconv.Itoa(pid), name)
}

// children asks the kernel for a list (proc_pid_task(5)), which it has where it
// was built with CONFIG_PROC_CHILDREN. It may leave out a child while another one
// is being waited for, so it is asked twice.
func (s *system) children(pid int) ([]int, error) {
	once, err := s.listed(pid)
	if err != nil || len(once) < 2 && pid != s.pid {
		return once, err
	}
	twice, err := s.listed(pid)
	return append(once, twice...), err
}

func (s *system) listed(pid int) (all []int, err error) {
	tasks, err := os.ReadDir(s.process(pid, "task"))
	if err != nil {
		return nil, err
	}
	listed := false
	for _, task := range tasks {
		data, err := read(filepath.Join(s.process(pid, "task"), task.Name(), "children"))
		listed = listed || err == nil
		for field := range strings.FieldsSeq(string(data)) {
			if n, ok := number(field); ok {
				all = append(all, n)
			}
		}
	}
	if !listed {
		return nil, errors.New("the kernel does not list the children of processes")
	}
	return all, nil
}

// kinOf finds out whose a process is.
func (s *system) kinOf(pid int) kin {
	next := pid
	for range maxDepth {
		if next == s.pid {
			return ours
		}
		data, err := read(s.process(next, "stat"))
		parent, _, ok := parseProcess(data)
		switch {
		case (err != nil || !ok) && s.root == "/" && s.seesAll() && ended(pid):
			return gone
		case err != nil || !ok || parent == next:
			return unclear
		case parent == 0 || next == 1:
			return others
		}
		next = parent
	}
	return unclear
}

const maxDepth = 1000 // of processes below each other

// ended asks the system whether a process is gone, rather than hidden.
func ended(pid int) bool {
	p, err := os.FindProcess(pid)
	return err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// seesAll reports whether this process is in the first namespace of process
// numbers, whose inode is PROC_PID_INIT_INO of Linux's include/linux/proc_ns.h.
func (s *system) seesAll() bool {
	name, err := os.Readlink(filepath.Join(s.root, "proc/self/ns/pid"))
	return err == nil && name == "pid:[4026531836]"
}

// temperature is that of the hottest zone, in degrees Celsius.
func (s *system) temperature() (hottest float64, ok bool) {
	var all []float64
	for _, file := range s.thermals {
		if v, ok := readQuantity(file); ok {
			all = append(all, v/1000)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	return slices.Max(all), true
}

// maxFile is more than the first lines of /proc/stat take on any machine.
const maxFile = 1 << 20

func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile))
}

func readQuantity(path string) (float64, bool) {
	data, err := read(path)
	if err != nil {
		return 0, false
	}
	return quantity(string(data))
}
