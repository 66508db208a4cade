package latency_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
)

func write(t testing.TB, observations []latency.Observation) string {
	t.Helper()
	var text bytes.Buffer
	if err := latency.WriteSamples(&text, observations); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestSamplesRoundTrip(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		observations := random(seed, 100)
		text := write(t, observations)
		got, err := latency.ReadSamples(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got, observations, same) {
			t.Fatalf("seed %d: what was read is not what was written", seed)
		}
		compare(t, "read again", values(latency.Compute(measure(observations))), values(latency.Compute(measure(got))), func(string) float64 { return 1 })
	}
}

// same compares all fields; NaN equals NaN.
func same(a, b latency.Observation) bool {
	text := func(o latency.Observation) string {
		r := &o.Reply
		timings := []string{}
		for _, v := range []*float64{&r.ServerPromptMS, &r.ServerDecodeMS} {
			if math.IsNaN(*v) {
				*v, timings = 0, append(timings, "NaN")
			}
		}
		all, _ := json.Marshal([]any{o, timings})
		return string(all)
	}
	return text(a) == text(b)
}

// TestSampleRow shows a whole row, which other programs read.
func TestSampleRow(t *testing.T) {
	t.Parallel()
	good, bad := answer(7, ms, 10*ms, 2*ms, 3), failure(8, 2*ms, "timeout_first")
	good.Reply.Reads[1] = 0
	const want = `{"request_idx":7,"ok":true,"ttft_ms":10,"total_ms":15,"tpot_ms":2,"tokens_in":50,"tokens_out":3,"finish_reason":"length",` +
		`"phase":"measure","outcome":"ok","status":200,"due_ns":1000000,"send_ns":2000000,"conn_ns":2000010,"headers_ns":2000020,` +
		`"first_chunk_ns":12000000,"first_ns":12000000,"first_content_ns":12000000,"last_ns":16000000,"finish_ns":16000001,` +
		`"usage_ns":16000002,"done_ns":16000003,"eof_ns":17000000,"chunks":4,"gaps_ns":[0,2000000,2000000],"reads":[0,0,2],` +
		`"cached_tokens":null,"token_source":"usage","reused":false,"retried":false,"server_prompt_ms":null,"server_decode_ms":null}` + "\n" +
		`{"request_idx":8,"ok":false,"ttft_ms":null,"total_ms":1,"tpot_ms":null,"tokens_in":null,"tokens_out":null,"finish_reason":"",` +
		`"error":"it broke","phase":"measure","outcome":"timeout_first","status":0,"due_ns":2000000,"send_ns":3000000,"conn_ns":0,` +
		`"headers_ns":0,"first_chunk_ns":0,"first_ns":0,"first_content_ns":0,"last_ns":0,"finish_ns":0,"usage_ns":0,"done_ns":0,` +
		`"eof_ns":4000000,"chunks":0,"cached_tokens":null,"token_source":"","reused":false,"retried":false,"server_prompt_ms":null,` +
		`"server_decode_ms":null}` + "\n"
	if got := write(t, []latency.Observation{good, bad}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// refused edits a good row; each must be refused with these words.
var refused = []struct{ old, new, want string }{
	{`"ok":true`, `"ok":"yes"`, "ok"},
	{`"ok":true`, `"ok":false`, "ok is false"},
	{`"tokens_out":3`, `"tokens_out":3.5`, "tokens_out"},
	{`"tokens_out":3`, `"tokens_out":-2`, "counts -2"},
	{`"send_ns":2000000`, `"send_ns":-1`, "time -1"},
	{`"eof_ns":17000000`, `"eof_ns":9223372036854775807`, "not between"},
	{`[0,2000000,2000000]`, `[0,-1,2000000]`, "gap 2"},
	{`[0,2000000,2000000]`, `[9000000000000000000,9000000000000000000,5]`, "gap 1"},
	{`[0,1,2]`, `[0,1]`, "2 reads for 3 gaps"},
	{`"phase":"measure"`, `"phase":"drain"`, "phase"},
	{`"outcome":"ok"`, `"outcome":"fine"`, "unknown outcome"},
	{`"token_source":"usage"`, `"token_source":"words"`, "token_source"},
	{`"request_idx":7,`, ``, "request_idx"},
	{`"status":200`, `"status":200,"extra":1`, "unknown field"},
	{"}\n", "} {}\n", "more text"},
	{"}\n", "\n", "line 1"},
}

func TestReadSamplesRefuses(t *testing.T) {
	t.Parallel()
	row := write(t, []latency.Observation{answer(7, ms, 10*ms, 2*ms, 3)})
	for _, test := range refused {
		text := strings.Replace(row, test.old, test.new, 1)
		if text == row {
			t.Fatalf("%s is not in the row", test.old)
		}
		_, err := latency.ReadSamples(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "line 1") || !strings.Contains(err.Error(), ": give") {
			t.Errorf("%s: %v, want line 1, %q and what to do", test.new, err, test.want)
		}
	}
	if _, err := latency.ReadSamples(strings.NewReader(strings.Repeat(" ", 17<<20))); err == nil || !strings.Contains(err.Error(), "takes more than") {
		t.Errorf("an endless line: %v", err)
	}
	if got, err := latency.ReadSamples(strings.NewReader("")); err != nil || len(got) != 0 {
		t.Errorf("no samples: %v, %v", got, err)
	}
}

// FuzzReadSamples demands that what is read can be computed on, written, and
// read again as the same.
func FuzzReadSamples(f *testing.F) {
	row := write(f, []latency.Observation{answer(7, ms, 10*ms, 2*ms, 3)})
	f.Add([]byte(row + write(f, []latency.Observation{failure(8, 2*ms, "timeout_first")})))
	for _, test := range refused {
		f.Add([]byte(strings.Replace(row, test.old, test.new, 1)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		observations, err := latency.ReadSamples(bytes.NewReader(data))
		if err != nil {
			return
		}
		valid(t, latency.Compute(measure(observations)))
		again, err := latency.ReadSamples(strings.NewReader(write(t, observations)))
		if err != nil || !slices.EqualFunc(again, observations, same) {
			t.Fatalf("%v\n%+v\n%+v", err, observations, again)
		}
	})
}
