package optrace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// deviceCategories are Kineto's for work on a device, in small letters: Kernel,
// Memcpy and Memset are those of 2021. gpu_user_annotation spans others.
var deviceCategories = map[string]bool{
	"kernel": true, "gpu_memcpy": true, "gpu_memset": true, "memcpy": true, "memset": true,
}

// hardware is the process of torch_npu's trace_view.json that holds what ran on
// the device; its events have no category. Communication and Overlap Analysis
// show the same time again.
const hardware = "Ascend Hardware"

// torchTrace reads the trace of torch.profiler's export_chrome_trace, or
// torch_npu's trace_view.json.
//
// If anything ran on a device, operators are its kernels, copies and fills; else
// they are the cpu_ops, each without the time of those that it called. In both
// the total is the sum over all of them and execution_time_s reaches from the
// first to the last. What a kernel waited for is not in a trace, so there is no
// critical path.
func torchTrace(data []byte) (*Profile, error) {
	t, err := readTrace(data)
	if err != nil {
		return nil, err
	}
	var s summary
	var extra []Value
	if device := t.where(t.onDevice()); len(device) > 0 {
		if err := charge(t, &s, device, lengths(device)); err != nil {
			return nil, err
		}
		extra = []Value{{"device_busy_s", seconds(busy(device))}}
	} else {
		host := t.where(t.isCategory(func(name string) bool { return name == "cpu_op" || name == "operator" }))
		if len(host) == 0 {
			return nil, fmt.Errorf("the trace %w: it has neither kernels nor cpu_ops; profile with ProfilerActivity.CPU or that of the device", ErrNone)
		}
		if err := charge(t, &s, host, selfTimes(host)); err != nil {
			return nil, err
		}
	}
	span, err := s.makespan()
	if err != nil {
		return nil, err
	}
	p := &Profile{Total: seconds(s.total), Values: values(append(extra, Value{"execution_time_s", span}))}
	if p.Operators, err = s.operators(t); err != nil {
		return nil, err
	}
	return p, nil
}

// isCategory asks about each category, in small letters, once.
func (t *trace) isCategory(holds func(name string) bool) func(event) bool {
	known := map[int32]bool{}
	return func(e event) bool {
		answer, ok := known[e.category]
		if !ok {
			answer = holds(strings.ToLower(t.text(e.category)))
			known[e.category] = answer
		}
		return answer
	}
}

func (t *trace) onDevice() func(event) bool {
	isWork := t.isCategory(func(name string) bool { return deviceCategories[name] })
	return func(e event) bool {
		return isWork(e) || t.processes[e.process] == hardware && !isWaiting(t.text(e.name))
	}
}

// isWaiting reports tasks of an NPU's streams that do no work: EVENT_WAIT,
// NOTIFY_WAIT, MODEL_EXECUTE and MODEL_WAIT_COMPLETE.
func isWaiting(name string) bool {
	name = strings.ToUpper(name)
	return strings.HasSuffix(name, "_WAIT") || strings.HasPrefix(name, "MODEL_")
}

// busy returns the time in which at least one event of a process, which is a
// device, was under way, summed over the devices.
func busy(events []event) (total int64) {
	events = slices.Clone(events)
	slices.SortFunc(events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.process, b.process), cmp.Compare(a.start, b.start))
	})
	until := int64(0)
	for i, e := range events {
		if i == 0 || e.process != events[i-1].process {
			until = e.start
		}
		total += max(0, e.end()-max(until, e.start))
		until = max(until, e.end())
	}
	return total
}

// selfTimes returns what each event took without the events within it on its
// thread. Of one that reaches beyond the end of the one around it, the part
// within counts as within.
func selfTimes(events []event) []int64 {
	order := make([]int, len(events))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := events[a], events[b]
		return cmp.Or(cmp.Compare(x.lane, y.lane), cmp.Compare(x.start, y.start), cmp.Compare(y.length, x.length), cmp.Compare(a, b))
	})
	times := lengths(events)
	var around []int // what is under way, the innermost last
	for _, i := range order {
		e := events[i]
		for len(around) > 0 {
			outer := events[around[len(around)-1]]
			if outer.lane == e.lane && e.start < outer.end() {
				times[around[len(around)-1]] -= min(e.end(), outer.end()) - e.start
				break
			}
			around = around[:len(around)-1]
		}
		around = append(around, i)
	}
	return times
}
