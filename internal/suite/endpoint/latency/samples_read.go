package latency

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// Limits of a samples file, which may come from anywhere.
const (
	MaxSampleLine   = 64 << 20 // bytes of one request: some million tokens
	maxObservations = 10_000_000
	maxMoment       = 30 * 24 * time.Hour // of an event since the epoch
)

// ReadSamples reads what [WriteSamples] wrote. What a row lacks for a
// computation is absent as [openai.Reply] says.
func ReadSamples(r io.Reader) ([]Observation, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 1<<16), MaxSampleLine)
	var all []Observation
	for n := 1; lines.Scan(); n++ {
		o, err := ParseSample(lines.Bytes())
		if err == nil && len(all) == maxObservations {
			err = fmt.Errorf("more than %d requests", maxObservations)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of the samples: %w: take the file as it was written", n, err)
		}
		all = append(all, o)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the samples: %w: take the file as it was written", err)
	}
	return all, nil
}

// ParseSample reads one line, without its end.
func ParseSample(line []byte) (Observation, error) {
	var row sampleRow
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&row); err != nil {
		return Observation{}, err
	}
	if _, err := d.Token(); err != io.EOF {
		return Observation{}, errors.New("there is more than one object")
	}
	return row.observation()
}

func (row *sampleRow) observation() (o Observation, err error) {
	if err := row.check(); err != nil {
		return o, err
	}
	o = Observation{
		Index:       *row.Index,
		Phase:       row.Phase,
		Due:         row.Due,
		Words:       row.Words,
		Model:       row.Model,
		Turn:        row.Turn,
		Inputs:      row.Inputs,
		Audio:       row.Audio,
		Outstanding: row.Outstanding,
		Capped:      row.SinceDue,
		Reply: openai.Reply{
			Outcome: row.Outcome, Reason: row.Error, Status: row.Status, Send: row.Send, Conn: row.Conn, Headers: row.Headers,
			FirstChunk: row.FirstChunk, First: row.First, FirstContent: row.FirstContent, Last: row.Last, Finish: row.Finish,
			Usage: row.Usage, Done: row.Done, EOF: row.EOF, Chunks: row.Chunks, Reads: row.Reads,
			PromptTokens: orUnsaid(row.TokensIn), OutputTokens: orUnsaid(row.TokensOut), CachedTokens: orUnsaid(row.Cached),
			StreamedTokens: orUnsaid(row.TokensOut), Source: row.Source, Note: row.Note, FinishReason: row.FinishReason,
			Reused: row.Reused, Retried: row.Retried, ServerPromptMS: orNaN(row.ServerPrompt), ServerDecodeMS: orNaN(row.ServerDecode),
		},
	}
	if row.Streamed != nil {
		o.Reply.StreamedTokens = orUnsaid(row.Streamed)
	}
	at := row.First
	for _, gap := range row.Gaps {
		if at += gap; gap < 0 || gap > maxMoment || at > maxMoment {
			return o, fmt.Errorf("a gap of %d ns", int64(gap))
		}
		o.Reply.Tokens = append(o.Reply.Tokens, at)
	}
	return o, nil
}

// check refuses what no client wrote.
func (row *sampleRow) check() error {
	const maximum = 1 << 40 // of a count
	switch {
	case row.Index == nil || *row.Index < 0 || *row.Index > 1<<40:
		return errors.New("request_idx is absent or impossible")
	case row.Phase != load.Warmup && row.Phase != load.Measure:
		return fmt.Errorf("the phase %.40q", row.Phase)
	case !row.Outcome.Known():
		return fmt.Errorf("the outcome %.40q", row.Outcome)
	case row.Source != "" && row.Source != openai.FromUsage && row.Source != openai.FromChunks:
		return fmt.Errorf("the token_source %.40q", row.Source)
	case len(row.Reads) > 0 && len(row.Reads) != len(row.Gaps):
		return fmt.Errorf("%d reads for %d gaps", len(row.Reads), len(row.Gaps))
	case row.Chunks < 0 || row.Words < 0 || row.Outstanding < 0 || row.Turn < 0 || row.Inputs < 0 || row.Inputs > 1<<20 ||
		!(row.Audio >= 0 && row.Audio < 1e9) || len(row.Model) > 1<<10:
		return errors.New("a negative count")
	}
	for _, n := range []*int{row.TokensIn, row.TokensOut, row.Cached, row.Streamed} {
		if n != nil && (*n < 0 || *n > maximum) {
			return fmt.Errorf("%d tokens", *n)
		}
	}
	for _, at := range []time.Duration{row.Due, row.Send, row.Conn, row.Headers, row.FirstChunk, row.First, row.FirstContent, row.Last,
		row.Finish, row.Usage, row.Done, row.EOF} {
		if at < 0 || at > maxMoment {
			return fmt.Errorf("an event at %d ns", int64(at))
		}
	}
	return nil
}

// Shift moves all events by d, so that observations of several clients have one epoch.
// An event that did not happen stays 0.
func (o *Observation) Shift(d time.Duration) {
	o.Due += d
	r := &o.Reply
	for _, at := range []*time.Duration{&r.Send, &r.Conn, &r.Headers, &r.FirstChunk, &r.First, &r.FirstContent, &r.Last,
		&r.Finish, &r.Usage, &r.Done, &r.EOF} {
		if *at > 0 {
			*at += d
		}
	}
	for i := range r.Tokens {
		r.Tokens[i] += d
	}
}

func orUnsaid(n *int) int {
	if n == nil {
		return -1
	}
	return *n
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
