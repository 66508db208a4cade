package optrace

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// analytic is the performance model that msmodeling's own checker reads.
const analytic = "analytic"

// simulatorMemory are the members of memory_gb and the names of their metrics.
var simulatorMemory = map[string]string{
	"total_device":                   "memory_total_device_gb",
	"model_weight":                   "memory_model_weight_gb",
	"peak_usage":                     "memory_peak_usage_gb",
	"kv_cache":                       "memory_kv_cache_gb",
	"kv_cache_per_token":             "memory_kv_cache_per_token_gb",
	"kv_cache_token_capacity_factor": "kv_cache_token_capacity_factor", // a factor, wherever it stands
	"model_activation":               "memory_model_activation_gb",
	"reserved":                       "memory_reserved_gb",
	"available":                      "memory_available_gb",
}

// simulatorMetrics reads what msmodeling's ModelRunnerMetrics.dump_json writes.
// Where several performance models are in it, the one of perf_model_name counts,
// else analytic, else the only one. The total is the sum of perf_total over the
// events of that model, since the file has no total: execution_time_s is the
// time from start to end, in which streams overlap.
func simulatorMetrics(data []byte) (*Profile, error) { return simulatorMetricsOf(data, "") }

// simulatorMetricsOf reads the events of one performance model; "" is as
// [simulatorMetrics] chooses.
func simulatorMetricsOf(data []byte, wanted string) (*Profile, error) {
	text, err := result(data)
	if err != nil {
		return nil, err
	}
	d, err := readSimulatorDocument(text)
	if err != nil {
		return nil, err
	}
	if d.events == nil {
		return nil, fmt.Errorf("the JSON %w: it has no runtime_event_list; write it with ModelRunnerMetrics.dump_json", ErrNone)
	}
	model, err := d.chosen(wanted)
	if err != nil {
		return nil, err
	}
	var ops operators
	for _, e := range d.events {
		if e.model != model {
			continue
		}
		if err := ops.add(e.name, e.total, e.calls); err != nil {
			return nil, err
		}
	}
	list, err := d.values(model)
	if err != nil {
		return nil, err
	}
	p := &Profile{Values: values(list)}
	p.Operators, p.Total = ops.sorted()
	return p.checked(0)
}

// simulatorDocument holds the members that are read. Those that are raw may be
// nil, where they are missing or null.
type simulatorDocument struct {
	model                             string
	events                            []simulatorEvent
	execution, speeds, memory, runRaw []byte
}

type simulatorEvent struct {
	name  []byte
	model string
	total float64
	calls int64
}

func readSimulatorDocument(text []byte) (d simulatorDocument, err error) {
	c := cursor{data: text}
	err = c.object(func(key []byte) error {
		if string(key) == "runtime_event_list" && c.peek() != 'n' { // null
			d.events = []simulatorEvent{}
			return c.list('[', ']', func() error { return d.event(&c) })
		}
		raw, err := c.value()
		if err != nil || isNull(raw) {
			return err
		}
		switch string(key) {
		case "perf_model_name":
			name, err := decode(raw)
			d.model = string(name)
			return err
		case "execution_time_s":
			d.execution = raw
		case "tps_per_model":
			d.speeds = raw
		case "memory_gb":
			d.memory = raw
		case "run_time_s":
			d.runRaw = raw
		}
		return nil
	})
	return d, err
}

// event reads one element of runtime_event_list, of which perf_avg is nothing
// new.
func (d *simulatorDocument) event(c *cursor) error {
	var name, model, total, calls []byte
	err := c.object(func(key []byte) (err error) {
		raw, err := c.value()
		switch string(key) {
		case "name":
			name = raw
		case "perf_model":
			model = raw
		case "perf_total":
			total = raw
		case "call_times":
			calls = raw
		}
		return err
	})
	if err != nil {
		return err
	}
	e := simulatorEvent{}
	e.name, err = decode(name)
	if err == nil && model != nil && !isNull(model) {
		var text []byte
		text, err = decode(model)
		e.model = string(text)
	}
	if err != nil {
		return fmt.Errorf("event %d of runtime_event_list: %w", len(d.events)+1, err)
	}
	if e.total, err = number(total); err == nil {
		err = inRange(e.total)
	}
	if err != nil {
		return fmt.Errorf("perf_total of operator %s: %w: see in the simulator's log why it has no time", quote(e.name), err)
	}
	if e.calls, err = count(calls); err != nil {
		return fmt.Errorf("call_times of operator %s: %w: see whether the file is dump_json's", quote(e.name), err)
	}
	d.events = append(d.events, e)
	return nil
}

// chosen returns the performance model whose numbers count.
func (d *simulatorDocument) chosen(wanted string) (string, error) {
	var models []string
	for _, e := range d.events {
		if !slices.Contains(models, e.model) {
			if models = append(models, e.model); len(models) > 64 {
				return "", errors.New("runtime_event_list names more than 64 performance models: see whether the file is dump_json's")
			}
		}
	}
	switch {
	case len(models) == 0:
		return "", errors.New("runtime_event_list is empty: see in the simulator's log why no operator ran")
	case wanted != "" && !slices.Contains(models, wanted):
		return "", fmt.Errorf("runtime_event_list has nothing of the performance model %s: run the simulator with it", quote([]byte(wanted)))
	case wanted != "":
		return wanted, nil
	case d.model != "" && !slices.Contains(models, d.model):
		return "", fmt.Errorf("perf_model_name is %s, of which runtime_event_list has nothing: see whether the file is dump_json's",
			quote([]byte(d.model)))
	case d.model != "":
		return d.model, nil
	case slices.Contains(models, analytic):
		return analytic, nil
	case len(models) == 1:
		return models[0], nil
	}
	return "", errors.New("runtime_event_list is of several performance models and perf_model_name is not set: run the simulator with one")
}

func (d *simulatorDocument) values(model string) ([]Value, error) {
	memory, err1 := numbers("memory_gb", d.memory, func(key string) string { return simulatorMemory[key] })
	of := func(metric string) func(string) string {
		return func(key string) string {
			if key == model {
				return metric
			}
			return ""
		}
	}
	execution, err2 := numbers("execution_time_s", d.execution, of("execution_time_s"))
	speed, err3 := numbers("tps_per_model", d.speeds, of("tps"))
	list := slices.Concat(memory, execution, speed)
	if d.runRaw == nil {
		return list, cmp.Or(err1, err2, err3)
	}
	v, err4 := number(d.runRaw)
	if err4 = cmp.Or(err4, inMetricRange("run_time_s", v)); err4 != nil {
		err4 = fmt.Errorf("run_time_s: %w: see whether the file is dump_json's", err4)
	}
	return append(list, Value{"run_time_s", v}), cmp.Or(err1, err2, err3, err4)
}

// numbers reads the members of an object that metric has a name for; nulls are
// passed over.
func numbers(what string, object []byte, metric func(key string) string) (list []Value, err error) {
	if object == nil {
		return nil, nil
	}
	c := cursor{data: object}
	err = c.object(func(key []byte) error {
		raw, err := c.value()
		name := metric(string(key))
		if err != nil || name == "" || isNull(raw) || len(list) >= len(Metrics) {
			return err
		}
		v, err := number(raw)
		if err = cmp.Or(err, inMetricRange(name, v)); err != nil {
			return fmt.Errorf("%s of %s: %w: see in the simulator's log what went wrong with it", quote(key), what, err)
		}
		list = append(list, Value{name, v})
		return nil
	})
	return list, err
}

// inMetricRange returns what is wrong with a finite value of a metric. Only the
// memory that is left may be below 0: the model does not fit then.
func inMetricRange(metric string, v float64) error {
	switch {
	case v < 0 && metric != "memory_available_gb":
		return fmt.Errorf("%v is negative", v)
	case v > maxSeconds || v < -maxSeconds:
		return fmt.Errorf("%v is out of all proportion", v)
	}
	return nil
}
