package health

import (
	"bytes"
	"errors"
	"strconv"
)

// ticks are what processors did since boot, in clock ticks.
type ticks struct{ work, idle, interrupts, steal uint64 }

func (t ticks) total() uint64 { return t.work + t.idle + t.interrupts + t.steal }

// maxTicks is 30,000 years of a machine with 1,000 cores.
const maxTicks = 1 << 56

// parseStat reads /proc/stat as proc_stat(5) describes it: the times of all
// processors, and of each by its number. What stands behind them is not looked
// at. Work is user, nice and system, in which guests are counted already.
func parseStat(data []byte) (all ticks, each map[int]ticks, err error) {
	each = map[int]ticks{}
	for len(data) > 0 {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte{'\n'})
		name, times, _ := bytes.Cut(line, []byte{' '})
		digits, ok := bytes.CutPrefix(name, []byte("cpu"))
		if !ok {
			break
		}
		t, err := parseTicks(times)
		if err != nil {
			return all, nil, err
		}
		if n, ok := number(string(digits)); ok {
			each[n] = t
		} else if len(digits) == 0 {
			all = t
		}
	}
	if all.total() == 0 {
		return all, nil, errors.New("no times of processors")
	}
	return all, each, nil
}

func parseTicks(times []byte) (ticks, error) {
	var v [8]uint64 // user nice system idle iowait irq softirq steal
	n := 0
	for field := range bytes.FieldsSeq(times) {
		if n == len(v) {
			break
		}
		t, err := strconv.ParseUint(string(field), 10, 64)
		if err != nil || t > maxTicks {
			return ticks{}, errors.New("a time is not a number of ticks")
		}
		v[n] = t
		n++
	}
	if n < 4 {
		return ticks{}, errors.New("a processor has fewer than 4 times")
	}
	return ticks{work: v[0] + v[1] + v[2], idle: v[3] + v[4], interrupts: v[5] + v[6], steal: v[7]}, nil
}

// parseProcess reads /proc/PID/stat as proc_pid_stat(5) describes it: the parent,
// and the ticks that the process and all children that it waited for have used.
func parseProcess(data []byte) (parent int, used uint64, ok bool) {
	end := bytes.LastIndexByte(data, ')') // of the name, which may hold anything
	fields := bytes.Fields(data[end+1:])
	if end < 0 || len(fields) < 15 {
		return 0, 0, false
	}
	if parent, ok = number(string(fields[1])); !ok {
		return 0, 0, false
	}
	for _, field := range fields[11:15] { // utime stime cutime cstime
		t, err := strconv.ParseUint(string(field), 10, 64)
		if err != nil || t > maxTicks {
			return 0, 0, false
		}
		used += t
	}
	return parent, used, true
}

// parsePressure reads the time, in seconds since boot, for which some process
// waited, out of a file of /proc/pressure (Documentation/accounting/psi.rst).
func parsePressure(data []byte) (seconds float64, ok bool) {
	line, _, _ := bytes.Cut(data, []byte{'\n'})
	_, total, found := bytes.Cut(line, []byte(" total="))
	us, err := strconv.ParseUint(string(total), 10, 63)
	return float64(us) / 1e6, found && err == nil && bytes.HasPrefix(line, []byte("some "))
}

// parseLoad reads the load of the last minute out of /proc/loadavg.
func parseLoad(data []byte) (load float64, ok bool) {
	first, _, _ := bytes.Cut(data, []byte{' '})
	return quantity(string(first))
}
