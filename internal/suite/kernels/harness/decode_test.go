package harness

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, wrong string }{
		{`{"seq":7,"ok":true,"bytes":3,"host_ns":5,"later":1}`, ""},
		{`{"seq":7,"ok":false,"error":{"kind":"oom","message":"m"}}`, ""},
		{`{"event":"alive"}`, ""},
		{`{"event":"log","text":"x"}`, ""},
		{`{"seq":8,"ok":true}`, "replies to request 8"},
		{`{"seq":-7,"ok":true}`, "not a JSON object"},
		{`{"seq":7.5,"ok":true}`, "not a JSON object"},
		{`{"seq":7,"ok":true} {}`, "not a JSON object"},
		{`{"ok":true}`, "neither an event nor a reply"},
		{`{"seq":7}`, "neither ok:true"},
		{`{"seq":7,"ok":true,"error":{"kind":"oom"}}`, "neither ok:true"},
		{`{"seq":7,"ok":false}`, "neither ok:true"},
		{`{"seq":7,"ok":false,"error":{"kind":"timeout"}}`, "unknown kind"},
		{`{"seq":7,"ok":true,"host_ns":-1}`, "negative"},
		{`{"seq":7,"ok":true,"bytes":"many"}`, "not those of this operation"},
		{`{"seq":7,"event":"alive"}`, "event with a seq"},
		{`{"event":"done"}`, "unknown event"},
		{`{"seq":7,"ok":true,"bytes":3,"bytes":4}`, `the key "bytes" occurs twice`},
		{`{"seq":8,"ok":true,"seq":7}`, `the key "seq" occurs twice`},
		{`{"seq":7,"ok":true,"ns":[5],"NS":[1]}`, `the key "ns" occurs twice`},
		{`hello`, "not a JSON object"},
		{`null`, "neither an event nor a reply"},
		{``, "not a JSON object"},
	} {
		var reply TensorReply
		_, _, err := decode([]byte(c.line), 7, &reply)
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v, want %q", c.line, err, c.wrong)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"seq":7,"ok":true,"ns":[1,2],"timer":"wall","host_ns":5}`))
	f.Add([]byte(`{"seq":7,"ok":true,"outputs":[{"name":"C","dtype":"float16","shape":[2,3]}]}`))
	f.Add([]byte(`{"seq":7,"ok":true,"kind":"go","proto":"fib-worker/1","pid":3,"devices":[{"id":"cpu"}],"timers":["wall"],"dtypes":["int8"]}`))
	f.Add([]byte(`{"seq":7,"ok":false,"error":{"kind":"compile","message":"\ud800","trace":"t"}}`))
	f.Add([]byte(`{"event":"log","text":"x"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var timing TimeReply
		e, m, err := decode(line, 7, &timing)
		if err == nil && e == "" && (m.Seq == nil || *m.Seq != 7) {
			t.Errorf("%q is taken for the reply to request 7", line)
		}
		if err == nil && m.Error != nil && (len(m.Error.Message) > maxMessage+3 || !m.Error.Kind.Reported()) {
			t.Errorf("%q has the error %+v", line, m.Error)
		}
		if err == nil && timing.check(2) == nil && (len(timing.NS) != 2 || min(timing.NS[0], timing.NS[1]) < 0) {
			t.Errorf("%q has the times %v", line, timing.NS)
		}
		var run RunReply
		var hello HelloReply
		if json.Unmarshal(line, &run) == nil && run.check([]string{"C"}) == nil && run.Outputs[0].Name != "C" {
			t.Errorf("%q describes %v", line, run.Outputs)
		}
		if json.Unmarshal(line, &hello) == nil && hello.check() == nil && hello.Proto != Proto {
			t.Errorf("%q uses %q", line, hello.Proto)
		}
	})
}

// TestTimerIsHeldAgainstTheSlope states the rule: N calls of 1 ms took 100 ms.
func TestTimerIsHeldAgainstTheSlope(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		reported int64
		overhead float64 // of the loop, in nanoseconds per call
		longer   time.Duration
		outside  bool
		short    bool
	}{
		{"plain", 1e6, 0, 200 * time.Millisecond, false, false},
		{"half", 5e5, 0, 200 * time.Millisecond, false, false},
		{"less than half", 5e5 - 1, 0, 200 * time.Millisecond, true, false},
		{"half more", 15e5, 0, 200 * time.Millisecond, false, false},
		{"more than that", 15e5 + 1, 0, 200 * time.Millisecond, true, false},
		{"the loop takes most", 2e5, 7e5, 200 * time.Millisecond, false, false},
		{"the loop does not explain it", 1e5, 7e5, 200 * time.Millisecond, true, false},
		{"short", 1e6, 0, 99 * time.Millisecond, true, true},
	} {
		p := procedure{Settings: Settings{MinTime: 50 * time.Millisecond}, overhead: c.overhead}
		d := p.check(span{ns: []int64{c.reported, c.reported, 9e9, 1}, longer: c.longer, calls: 100}, 1)
		if d.outside() != c.outside || d.short != c.short {
			t.Errorf("%s: outside %v, short %v of %+v", c.name, d.outside(), d.short, d)
		}
	}
}

func TestSuspicionTakesMostTrials(t *testing.T) {
	t.Parallel()
	good, bad, short := doubt{median: 1, low: 1, high: 2}, doubt{median: 3, low: 1, high: 2}, doubt{short: true}
	for _, c := range []struct {
		doubts   []doubt
		suspect  bool
		warnings int
	}{
		{[]doubt{good, good, bad}, false, 0},
		{[]doubt{bad, good, bad}, true, 0},
		{[]doubt{short, short, bad}, false, 1},
		{[]doubt{bad}, true, 0},
	} {
		p := procedure{Measurement: &Measurement{}, doubts: c.doubts}
		p.suspect()
		if (p.Status != "") != c.suspect || len(p.Warnings) != c.warnings || c.suspect == (p.Reason == "") {
			t.Errorf("%v: status %q, reason %q, warnings %q", c.doubts, p.Status, p.Reason, p.Warnings)
		}
	}
}
