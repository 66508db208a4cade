package latency

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// The limits of a samples file, which may come from anywhere. A request of 100
// tokens takes about 1.5 KiB.
const (
	maxSampleBytes = 16 << 20 // of one line
	maxSamples     = 1 << 20
	maxFileBytes   = 1 << 30

	maxTime   = time.Duration(1) << 53 // a hundred days, exact in every JSON reader
	maxTokens = 1 << 30
)

// ReadSamples reads what WriteSamples wrote. It refuses unknown fields, other
// types, times that are negative or not in order, and files over a limit; the
// error names the line. Latencies in the file are not believed but left to be
// computed again.
func ReadSamples(r io.Reader) ([]Observation, error) {
	limited := &io.LimitedReader{R: r, N: maxFileBytes + 1}
	scanner := bufio.NewScanner(limited)
	scanner.Buffer(make([]byte, 1<<16), maxSampleBytes)
	var observations []Observation
	for scanner.Scan() {
		o, err := readSample(scanner.Bytes())
		if err != nil {
			return nil, fmt.Errorf("samples, line %d: %w: give a file that accelgate wrote", len(observations)+1, err)
		}
		if observations = append(observations, o); len(observations) > maxSamples {
			return nil, fmt.Errorf("the samples are of more than %d requests: split the file", maxSamples)
		}
	}
	switch err := scanner.Err(); {
	case limited.N == 0:
		return nil, fmt.Errorf("the samples take more than %d bytes: split the file", maxFileBytes)
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("samples, line %d takes more than %d bytes: give a file that accelgate wrote", len(observations)+1, maxSampleBytes)
	case err != nil:
		return nil, fmt.Errorf("read samples after line %d: %w", len(observations), err)
	}
	return observations, nil
}

func readSample(line []byte) (Observation, error) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	var row sampleRow
	if err := decoder.Decode(&row); err != nil {
		return Observation{}, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return Observation{}, errors.New("more text follows the object")
	}
	if err := row.validate(); err != nil {
		return Observation{}, err
	}
	return row.observation(), nil
}

func (row *sampleRow) validate() error {
	switch {
	case row.Index == nil || *row.Index < 0:
		return errors.New("request_idx is absent or negative")
	case row.Phase != load.Warmup && row.Phase != load.Measure:
		return fmt.Errorf("phase is %.40q, want %s or %s", row.Phase, load.Warmup, load.Measure)
	case !slices.Contains(openai.Outcomes(), row.Outcome):
		return fmt.Errorf("unknown outcome %.40q", row.Outcome)
	case row.OK != (row.Outcome == openai.OK):
		return fmt.Errorf("ok is %t and outcome %s", row.OK, row.Outcome)
	case row.Source != "" && row.Source != openai.FromUsage && row.Source != openai.FromChunks:
		return fmt.Errorf("unknown token_source %.40q", row.Source)
	case row.Status < 0 || row.Status > 999:
		return fmt.Errorf("status is %d", row.Status)
	case len(row.Reads) > 0 && len(row.Reads) != len(row.Gaps):
		return fmt.Errorf("has %d reads for %d gaps", len(row.Reads), len(row.Gaps))
	}
	if err := row.validateCounts(); err != nil {
		return err
	}
	return row.validateTimes()
}

func (row *sampleRow) validateCounts() error {
	for _, n := range []*int{&row.Chunks, row.TokensIn, row.TokensOut, row.Cached} {
		if n != nil && (*n < 0 || *n > maxTokens) {
			return fmt.Errorf("counts %d tokens or chunks, want 0 to %d", *n, maxTokens)
		}
	}
	return nil
}

func (row *sampleRow) validateTimes() error {
	for _, at := range []time.Duration{row.Due, row.Send, row.Conn, row.Headers, row.FirstChunk, row.First, row.FirstContent, row.Last,
		row.Finish, row.Usage, row.Done, row.EOF} {
		if at < 0 || at > maxTime {
			return fmt.Errorf("time %d ns is not between 0 and %d", int64(at), int64(maxTime))
		}
	}
	last := row.First
	for i, gap := range row.Gaps {
		if gap < 0 || gap > maxTime-last {
			return fmt.Errorf("gap %d is %d ns, which is negative or too long", i+1, int64(gap))
		}
		last += gap
	}
	return nil
}
