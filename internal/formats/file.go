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
		if f.imported() {
			names = append(names, f.name)
		}
	}
	slices.Sort(names)
	return names
}

// ReadFile returns the result of a tool as a Run that validates, and
// the name of its format. The file is text that the tool prints, or one JSON object, an array of them, or
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
//	time_ns, cpu_time_ns, ...                      harnesses of benchmarks, see [Harnesses]
//
// What lists scores, such as lm-evaluation-harness, has the metrics of its file, each
// with its unit and direction.
func ReadFile(data []byte) (run *bench.Run, format string, warnings []string, err error) {
	return ReadFileAs("", data)
}

// ReadFileAs reads a file of a format of [FileNames], "" for the one that its content
// shows. Formats with the same content need the name.
func ReadFileAs(name string, data []byte) (run *bench.Run, format string, warnings []string, err error) {
	if len(data) > MaxFileBytes {
		return nil, "", nil, fmt.Errorf("result of %d bytes is over the limit of %d: "+
			"save it without the records of single requests", len(data), MaxFileBytes)
	}
	f, documents, err := identify(name, data)
	if err != nil {
		return nil, "", nil, err
	}
	if f.read != nil {
		run, err = f.generated(documents)
	} else {
		run, err = f.named(data)
	}
	if err != nil {
		return nil, f.name, nil, err
	}
	return run, f.name, slices.Clone(run.Warnings), nil
}

// identify returns the format of a file, and its documents where it is JSON that no
// name was given for.
func identify(name string, data []byte) (*format, []object, error) {
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == name && f.imported() })
	if name != "" && i < 0 {
		return nil, nil, fmt.Errorf("unknown format %.80q: use one of %s", name, strings.Join(FileNames(), ", "))
	}
	if name != "" && formats[i].read == nil {
		return &formats[i], nil, nil
	}
	documents, err := decodeFile(data)
	if i >= 0 {
		return &formats[i], documents, err
	}
	shown := ends(data)
	for i := range formats {
		f := &formats[i]
		if err == nil && f.is != nil && f.is(documents[0]) || err != nil && f.text != nil && f.text(shown) {
			return f, documents, nil
		}
	}
	switch {
	case err == nil:
		err = unknown()
	case len(shown) < len(data):
		err = fmt.Errorf("%w; of a text, only the first and the last MiB show its format: name it with --format", err)
	}
	return nil, nil, err
}

// ends are the beginning and the end of a file: expressions that look for a format in tens of MiB of any
// text take half a minute.
func ends(data []byte) []byte {
	const each = 1 << 20
	if len(data) <= 2*each {
		return data
	}
	return slices.Concat(data[:each], []byte("\n"), data[len(data)-each:])
}

// named reads a file that names its cells.
func (f *format) named(data []byte) (*bench.Run, error) {
	var s *sheet
	var err error
	if f.benchmarks != nil {
		s, err = ofBenchmarks(f.benchmarks, data)
	} else {
		s, err = f.list(data)
	}
	if err == nil && s == nil {
		err = errors.New("the file holds nothing of it: give another file, or leave the name of the format out")
	}
	if err != nil {
		return nil, fmt.Errorf("format %s: %w", f.name, err)
	}
	run, err := s.run(f.name)
	if err != nil {
		return nil, fmt.Errorf("format %s: %w", f.name, err)
	}
	return run, nil
}

// generated reads what load generators saved.
func (f *format) generated(documents []object) (*bench.Run, error) {
	b := &builder{format: f.name}
	for i, o := range documents {
		if other := detect(o); other == nil || other.name != f.name {
			return nil, fmt.Errorf("object %d is not of format %s: give each format a file of its own", i+1, f.name)
		}
		if err := f.read(b, o); err != nil {
			return nil, fmt.Errorf("object %d, format %s: %w", i+1, f.name, err)
		}
		if len(b.cells) > maxCells {
			return nil, fmt.Errorf("the result holds more than %d benchmarks: split the file", maxCells)
		}
	}
	run, err := b.run()
	if err != nil {
		return nil, fmt.Errorf("format %s: %w", f.name, err)
	}
	return run, nil
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
	return errors.New("the result is of no tool that is known (" + strings.Join(FileNames(), ", ") +
		"): give the file of results that one of them saves, for llama-bench what it prints with -o json")
}
