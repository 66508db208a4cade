package optrace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// simulatorTrace reads msmodeling's --chrome-trace-file. Its category is the
// performance model, of which analytic counts where it is in the trace, else
// the first. Times are rounded to microseconds, so the total of a model with
// many short operators may be off by some percent.
func simulatorTrace(data []byte) (*Profile, error) { return simulatorTraceOf(data, "") }

// simulatorTraceOf reads the events of one performance model; "" is as
// [simulatorTrace] chooses.
func simulatorTraceOf(data []byte, wanted string) (*Profile, error) {
	t, err := readTrace(data)
	if err != nil {
		return nil, err
	}
	model := t.model(wanted)
	events := t.where(func(e event) bool { return e.category == model && model >= 0 })
	if len(events) == 0 {
		return nil, fmt.Errorf("the trace %w: none of its processes is a performance model of msmodeling; pass its --chrome-trace-file",
			ErrNone)
	}
	var s summary
	if err := charge(t, &s, events, lengths(events)); err != nil {
		return nil, err
	}
	return simulatorProfile(t, &s, events)
}

// model returns the category that counts, or -1 where the trace is another
// program's: msmodeling names each process after its model.
func (t *trace) model(wanted string) int32 {
	found := int32(-1)
	seen := map[int32]bool{}
	for _, e := range t.events {
		if e.category < 0 || seen[e.category] {
			continue
		}
		seen[e.category] = true
		name := t.text(e.category)
		if process := t.processes[e.process]; name == "" || !strings.HasPrefix(process, name+" ") {
			continue
		}
		if name == cmp.Or(wanted, analytic) {
			return e.category
		}
		if found < 0 && wanted == "" {
			found = e.category
		}
	}
	return found
}

func simulatorProfile(t *trace, s *summary, events []event) (*Profile, error) {
	span, err := s.makespan()
	if err != nil {
		return nil, err
	}
	p := &Profile{Total: seconds(s.total)}
	if p.Operators, err = s.operators(t); err != nil {
		return nil, err
	}
	var critical summary
	for _, step := range criticalPath(events) {
		if err := critical.add(t, events[step.event], step.length); err != nil {
			return nil, err
		}
	}
	if p.CriticalPath, err = critical.operators(t); err != nil {
		return nil, err
	}
	p.Values = values([]Value{{"execution_time_s", span}, {"critical_path_s", seconds(critical.total)}})
	return p, nil
}

// step is an event of a critical path and the time that it is charged.
type step struct {
	event  int
	length int64
}

// criticalPath walks back from the event that ends last to the event that ended
// last before that began, and so on. Since rounding moves both, an event may end
// 1 µs after the next one begins; it is then charged until that moment only, so
// that the path is never longer than the time from start to end.
//
// An event that is passed over is never looked at again: the starts along the
// path only go down, so one that ends too late or begins too late for one step
// does so for all further ones. Sorting is all that it costs.
func criticalPath(events []event) (path []step) {
	byEnd := make([]int, len(events))
	for i := range byEnd {
		byEnd[i] = i
	}
	slices.SortFunc(byEnd, func(a, b int) int {
		return cmp.Or(cmp.Compare(events[b].end(), events[a].end()), cmp.Compare(b, a))
	})
	for _, i := range byEnd {
		e, charged := events[i], events[i].length
		if len(path) > 0 {
			next := path[len(path)-1].event
			after := events[next]
			if e.start > after.start || e.start == after.start && i > next || e.end() > after.start+microsecond {
				continue
			}
			charged = min(e.end(), after.start) - e.start
		}
		path = append(path, step{i, charged})
	}
	return path
}
