package formats

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// The limits of a file, which may come from anywhere.
const (
	MaxFileBytes = 32 << 20
	maxMembers   = 1 << 20 // members of all objects
	maxCells     = 1000    // objects in a file, and benchmarks in an object
	maxList      = 1000    // of a list that is read, as in bench.Run
)

// HostLabel is the label of every Run that ReadFile returns; results do not name
// the machine, so the caller sets it.
const HostLabel = "imported"

// FileNames returns the formats that ReadFile reads, in alphabetical order.
func FileNames() []string {
	var names []string
	for _, f := range formats {
		if f.read != nil {
			names = append(names, f.name)
		}
	}
	slices.Sort(names)
	return names
}

// ReadFile returns the result of a load generator as a Run that validates, and
// the name of its format. The file is one JSON object, an array of them, or
// several one after another, all of one format; the words Infinity and NaN,
// which Python writes, are tolerated. Every benchmark in it is a cell;
// benchmarks under equal conditions are repeats, each a value of one cell.
//
// Conditions that all cells share are the Run's Context; those in which they
// differ are parameters of the cells. Warnings say which numbers are doubtful
// or were left out, and why; they are the Run's as well. ReadFile may be called by
// several goroutines at once and does not change data.
//
// A quantity keeps its name only where its definition is the same:
// what the tools call TTFT, TPOT and ITL are different events, so each is
// renamed by what the tool measures and never by its label.
//
//	metric               what
//	throughput_tok_per_s generated tokens over the whole run
//	input_tok_per_s      prompt tokens over the whole run
//	req_per_s_all        requests answered over the whole run
//	ok_rate              requests answered over those answered or failed
//	n_ok, n_total        the two counts of ok_rate
//	ttfc_*_ms            sent to first chunk, which may hold a role and no text
//	ttft_*_ms            sent to first text, reasoning or tool call
//	ttft_content_*_ms    sent to first text, reasoning not counted
//	tpot_*_ms            rest of an answer per token after the first
//	tpot_incl_first_*_ms time to the last token per token, the first included
//	icl_*_ms             between chunks, all requests pooled
//	itl_retokenized_*_ms between tokens that the client cut out of chunks
//	e2e_*_ms             sent to end of answer
//	e2e_sched_*_ms       the same from the intended arrival
//	e2e_per_token_*_ms   end to end per token
//	schedule_delay_*_ms  intended arrival to sent; below 0 is early
//	prefill_tps, decode_tps, combined_tps          llama-bench, without a server
//	prefill_tok_per_s, decode_tok_per_s            the same seen by a client, all requests together
//	peak_tok_per_s, prefill_est_ms                 llama-benchy
func ReadFile(data []byte) (run *bench.Run, format string, warnings []string, err error) {
	if len(data) > MaxFileBytes {
		return nil, "", nil, fmt.Errorf("result of %d bytes is over the limit of %d: "+
			"save it without the records of single requests", len(data), MaxFileBytes)
	}
	documents, err := decodeFile(data)
	if err != nil {
		return nil, "", nil, err
	}
	f := detect(documents[0])
	if f == nil {
		return nil, "", nil, unknown()
	}
	b := &builder{format: f.name}
	for i, o := range documents {
		if other := detect(o); other == nil || other.name != f.name {
			return nil, f.name, nil, fmt.Errorf("object %d is not of format %s like those before it: "+
				"give each format a file of its own", i+1, f.name)
		}
		if err := f.read(b, o); err != nil {
			return nil, f.name, nil, fmt.Errorf("object %d, format %s: %w", i+1, f.name, err)
		}
		if len(b.cells) > maxCells {
			return nil, f.name, nil, fmt.Errorf("the result holds more than %d benchmarks: split the file", maxCells)
		}
	}
	if run, err = b.run(); err != nil {
		return nil, f.name, nil, fmt.Errorf("format %s: %w", f.name, err)
	}
	return run, f.name, slices.Clone(run.Warnings), nil
}

func detect(o object) *format {
	for i := range formats {
		if formats[i].is != nil && formats[i].is(o) {
			return &formats[i]
		}
	}
	return nil
}

func unknown() error {
	return errors.New("the result is of no load generator that is known (" + strings.Join(FileNames(), ", ") +
		"): give the JSON file of results that one of them saves, for llama-bench what it prints with -o json")
}
