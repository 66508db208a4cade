package harness

import (
	"encoding/json"
	"strings"
	"testing"
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
