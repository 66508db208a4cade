package latency

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// sampleRow is one line of a samples file: the names of InferenceBench 0.1.0
// first, with our definitions, then everything that they are computed from.
// Fields that end in _ns are since the epoch, 0 where the event did not happen;
// null stands for a number that was not reported or cannot be computed.
type sampleRow struct {
	Index        *int     `json:"request_idx"`
	OK           bool     `json:"ok"`
	TTFT         *float64 `json:"ttft_ms"`
	Total        *float64 `json:"total_ms"`
	TPOT         *float64 `json:"tpot_ms"`
	TokensIn     *int     `json:"tokens_in"`
	TokensOut    *int     `json:"tokens_out"`
	FinishReason string   `json:"finish_reason"`
	Error        string   `json:"error,omitempty"`
	Note         string   `json:"note,omitempty"` // what the server sent and is ignored

	Model   string         `json:"model,omitempty"`
	Inputs  int            `json:"inputs,omitempty"`
	Audio   float64        `json:"audio_s,omitempty"`
	Turn    int            `json:"turn,omitempty"` // of its conversation, from 1
	Phase   load.Phase     `json:"phase"`
	Outcome openai.Outcome `json:"outcome"`
	Status  int            `json:"status"`
	Due     time.Duration  `json:"due_ns"`
	// SinceDue means that ttft_ms and total_ms count from when the request was due.
	SinceDue bool `json:"since_due,omitempty"`

	Send         time.Duration `json:"send_ns"`
	Conn         time.Duration `json:"conn_ns"`
	Headers      time.Duration `json:"headers_ns"`
	FirstChunk   time.Duration `json:"first_chunk_ns"`
	First        time.Duration `json:"first_ns"`
	FirstContent time.Duration `json:"first_content_ns"`
	Last         time.Duration `json:"last_ns"`
	Finish       time.Duration `json:"finish_ns"`
	Usage        time.Duration `json:"usage_ns"`
	Done         time.Duration `json:"done_ns"`
	EOF          time.Duration `json:"eof_ns"`

	Chunks int `json:"chunks"`
	// Words are those of the prompt, and Outstanding the requests that were due and
	// had not ended; 0 is not known.
	Words       int `json:"words,omitempty"`
	Outstanding int `json:"outstanding,omitempty"`
	// Gaps are the times between content chunks, that of the first from
	// First; Reads tells which read brought each.
	Gaps  []time.Duration `json:"gaps_ns,omitempty"`
	Reads []int32         `json:"reads,omitempty"`

	Cached *int `json:"cached_tokens"`
	// Streamed are those of tokens_out that came as chunks, where not all did.
	Streamed *int `json:"streamed_tokens,omitempty"`

	Source       string   `json:"token_source"`
	Reused       bool     `json:"reused"`
	Retried      bool     `json:"retried"`
	ServerPrompt *float64 `json:"server_prompt_ms"`
	ServerDecode *float64 `json:"server_decode_ms"`
}

// WriteSamples writes one line of JSON for each observation, in their order.
func WriteSamples(w io.Writer, observations []Observation) error {
	buffered := bufio.NewWriterSize(w, 1<<16)
	encoder := json.NewEncoder(buffered)
	encoder.SetEscapeHTML(false)
	for i := range observations {
		if err := encoder.Encode(rowOf(&observations[i])); err != nil {
			return fmt.Errorf("write the sample of request %d: %w", observations[i].Index, err)
		}
	}
	return buffered.Flush()
}

func rowOf(o *Observation) *sampleRow {
	r := &o.Reply
	row := &sampleRow{
		Index: &o.Index, OK: r.Outcome == openai.OK, TTFT: orNull(ttft(o)), Total: orNull(e2e(o)), TPOT: orNull(tpot(o)),
		TokensIn: countOrNull(
			r.PromptTokens,
		), TokensOut: countOrNull(r.OutputTokens), FinishReason: r.FinishReason, Error: r.Reason, Note: r.Note,
		Model: o.Model, Inputs: o.Inputs, Audio: o.Audio, Turn: o.Turn, Phase: o.Phase, Outcome: r.Outcome, Status: r.Status,
		Due: o.Due, SinceDue: o.Capped,
		Send: r.Send, Conn: r.Conn, Headers: r.Headers, FirstChunk: r.FirstChunk, First: r.First, FirstContent: r.FirstContent,
		Last: r.Last, Finish: r.Finish, Usage: r.Usage, Done: r.Done, EOF: r.EOF,
		Chunks: r.Chunks, Words: o.Words, Outstanding: o.Outstanding, Reads: r.Reads, Cached: countOrNull(r.CachedTokens),
		Source: r.Source, Reused: r.Reused, Retried: r.Retried,
		ServerPrompt: orNull(r.ServerPromptMS), ServerDecode: orNull(r.ServerDecodeMS),
	}
	if r.StreamedTokens < r.OutputTokens {
		row.Streamed = countOrNull(r.StreamedTokens)
	}
	if len(r.Tokens) > 0 {
		row.Gaps = make([]time.Duration, len(r.Tokens))
	}
	last := r.First
	for i, at := range r.Tokens {
		row.Gaps[i], last = at-last, at
	}
	return row
}

func orNull(v float64) *float64 {
	if !bench.Finite(v) {
		return nil
	}
	return &v
}

func countOrNull(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}
