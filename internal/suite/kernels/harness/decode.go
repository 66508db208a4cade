package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/jsonread/jsonkey"
)

// message is any line that a worker may write.
type message struct {
	Seq    *uint64  `json:"seq"`
	OK     *bool    `json:"ok"`
	Error  *Problem `json:"error"`
	HostNS int64    `json:"host_ns"`
	Event  *string  `json:"event"`
	Text   string   `json:"text"`
}

// event is what was written unasked, and empty for a reply.
type event string

const (
	alive event = "alive"
	logs  event = "log"
)

// decode reads a line of a worker that was asked with the number seq. Of an event
// it returns the kind and the text. Of a reply it returns the worker's problem,
// or sets reply, which may be nil, from its fields and checks it. The error says
// what is wrong with the line.
func decode(line []byte, seq uint64, reply any) (e event, m message, err error) {
	if err := json.Unmarshal(line, &m); err != nil {
		return "", m, fmt.Errorf("it is not a JSON object with the fields of a reply: %w", err)
	}
	if err := jsonkey.CheckFold(line); err != nil { // encoding/json ignores the case of keys and takes the last
		return "", m, err
	}
	if m.Event != nil {
		return decodeEvent(m)
	}
	switch {
	case m.Seq == nil:
		return "", m, errors.New("it is neither an event nor a reply, which has a seq")
	case *m.Seq != seq:
		return "", m, fmt.Errorf("it replies to request %d, which is not the one that waits (%d)", *m.Seq, seq)
	case m.OK == nil || *m.OK == (m.Error != nil):
		return "", m, errors.New("it is neither ok:true without an error nor ok:false with one")
	case m.HostNS < 0:
		return "", m, errors.New("its host_ns is negative")
	case m.Error != nil:
		return "", m, checkProblem(m.Error)
	case reply == nil:
		return "", m, nil
	}
	if err := json.Unmarshal(line, reply); err != nil {
		return "", m, fmt.Errorf("its fields are not those of this operation: %w", err)
	}
	return "", m, nil
}

func decodeEvent(m message) (event, message, error) {
	if m.Seq != nil {
		return "", m, errors.New("it is an event with a seq")
	}
	switch e := event(*m.Event); e {
	case alive, logs:
		return e, m, nil
	}
	return "", m, fmt.Errorf("it is an unknown event %.40q", *m.Event)
}

func checkProblem(p *Problem) error {
	if !p.Kind.Reported() {
		return fmt.Errorf("it names an error of unknown kind %.40q", string(p.Kind))
	}
	p.Message, p.Trace = text.Clip(p.Message, maxMessage), text.Clip(p.Trace, maxTrace)
	return nil
}

const (
	maxDevices = 64
	maxNames   = 256 // entries of a list
	maxName    = 512 // bytes of a name
	maxRank    = 16
)

func (r HelloReply) check() error {
	switch {
	case r.Proto != Proto:
		return fmt.Errorf("it uses %.40q and not %s", r.Proto, Proto)
	case r.Kind == "" || len(r.Kind) > maxName:
		return errors.New("it names no kind")
	case len(r.Devices) == 0 || len(r.Devices) > maxDevices:
		return fmt.Errorf("it names %d devices", len(r.Devices))
	case len(r.Timers) == 0 || len(r.Timers) > maxNames || len(r.DTypes) > maxNames || len(r.Libs) > maxNames:
		return errors.New("it names no timer, or too many timers, dtypes or libraries")
	}
	for _, d := range r.Devices {
		if d.Memory < 0 || max(len(d.ID), len(d.Name), len(d.UUID), len(d.Kind)) > maxName {
			return errors.New("it describes a device at great length, or with negative memory")
		}
	}
	return nil
}

func (r RunReply) check(names []string) error {
	if len(r.Outputs) != len(names) {
		return fmt.Errorf("it describes %d outputs where %d were asked for", len(r.Outputs), len(names))
	}
	for i, o := range r.Outputs {
		if o.Name != names[i] || len(o.Shape) > maxRank || slices.ContainsFunc(o.Shape, func(n int) bool { return n < 0 }) {
			return fmt.Errorf("it describes output %d in place of %.40q wrongly", i, names[i])
		}
	}
	return nil
}

func (r TimeReply) check(iterations int) error {
	switch {
	case len(r.NS) != iterations:
		return fmt.Errorf("it has %d times for %d calls", len(r.NS), iterations)
	case slices.ContainsFunc(r.NS, func(ns int64) bool { return ns < 0 }):
		return errors.New("it has a negative time")
	case r.Timer == "" || len(r.Timer) > maxName:
		return errors.New("it does not name its timer")
	}
	return nil
}
