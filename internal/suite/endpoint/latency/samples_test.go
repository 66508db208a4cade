package latency_test

import (
	"bytes"
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
