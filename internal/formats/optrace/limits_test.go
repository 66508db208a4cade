package optrace_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/formats/optrace"
)

// TestTooMany: one more than the limit is an error that says what to do.
func TestTooMany(t *testing.T) {
	t.Parallel()
	list := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,{"name":"op%d","total_us":1}`, i)
		}
		return `{"operators":[` + b.String()[1:] + "]}"
	}
	p, err := optrace.Formats["json"]([]byte(list(4096)))
	if err != nil || len(p.Operators) != 4096 {
		t.Errorf("4096 operators: %v", err)
	}
	_, err = optrace.Formats["json"]([]byte(list(4097)))
	if want := "the profile lists more than 4096 operators: group them by name, or list only the largest"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = optrace.Formats["json"]([]byte(`{"operators":[{"name":"a","total_s":1,"calls":9007199254740992},{"name":"a","total_s":1,"calls":1}]}`))
	if err == nil || !strings.HasPrefix(err.Error(), `operator "a" has 2 s in 9007199254740993 calls, which cannot be: `) {
		t.Errorf("too many calls: got %v", err)
	}
	const rule = "----  --------------  ------------  ----------------\n"
	const head = rule + "Name  analytic total  analytic avg        # of Calls\n" + rule
	row := func(total, calls string) string { return fmt.Sprintf("a     %14s  %12s  %16s\n", total, "1s", calls) }
	for _, tt := range []struct{ table, err string }{
		{head + strings.Repeat(row("0s", "1"), 4097), "line 4100: the profile lists more than 4096 operators: group them by name, or list only the largest"},
		{head + row("0s", "9007199254740992") + row("0s", "1"), `line 5: the operators up to "a" have 0 s in 9007199254740993 calls, which cannot be: ` +
			"see whether the output is what this format is for"},
		{head + row("1000000000s", "1") + row("1s", "1"), `line 5: the operators up to "a" have 1.000000001e+09 s in 2 calls, which cannot be: ` +
			"see whether the output is what this format is for"},
	} {
		if _, err := optrace.Formats["msmodeling-table"]([]byte(tt.table + rule + "Total time for analytic: 1s\n")); err == nil || err.Error() != tt.err {
			t.Errorf("got %v, want %s", err, tt.err)
		}
	}
}

func TestTraceIsBounded(t *testing.T) {
	const event = `,{"ph":"X"}`
	for _, tt := range []struct{ name, data, err string }{
		{"events", "[" + strings.Repeat(event, 2_000_001)[1:] + "]", "the trace has more than 2000000 events: profile fewer steps"},
		{"words", words(1 << 18), "the trace has more than 262144 names and threads: profile fewer steps, without stacks"},
		{"bytes", string(make([]byte, 256<<20+1)), "the trace has more than 256 MiB: profile fewer steps, without stacks and shapes"},
	} {
		if _, err := optrace.Formats["torch-trace"]([]byte(tt.data)); err == nil || err.Error() != tt.err {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.err)
		}
	}
}

// words makes a trace with n names and then some.
func words(n int) string {
	b := []byte("[0")
	for i := range n + 1 {
		b = append(b, `,{"ph":"X","name":`...)
		b = append(strconv.AppendInt(b, int64(i), 10), '}')
	}
	return string(append(b, ']'))
}

// TestTraceMemory: an event takes the bytes that it has in the trace and some
// 100 more.
func TestTraceMemory(t *testing.T) {
	data := makeTrace(100_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := optrace.Formats["msmodeling-trace"](data); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got, limit := int(after.TotalAlloc-before.TotalAlloc), 100_000*600; got > limit {
		t.Errorf("allocated %d bytes, want at most %d", got, limit)
	}
}

// hostile makes some n bytes in which reading is as slow as it gets.
func hostile(n int) map[string][]byte {
	const rule = "----  --------------  ------------  ----------\n"
	head := rule + "Name  analytic total  analytic avg  # of Calls\n" + rule
	wide := strings.Repeat("-  ", 60) + "-\n"
	names := strings.Repeat("a  ", 57) + "Name  m total  m avg  # of Calls\n"
	fill := func(start, line string) []byte { return []byte(start + strings.Repeat(line, (n-len(start))/len(line))) }
	return map[string][]byte{
		"totals":   fill("", "Total time for analytic: "),
		"spaces":   fill("Total time for analytic:", " "),
		"rules":    fill("", "-  -  -\n"),
		"row":      fill(head, "a  "),
		"rows":     fill(head, "a  1s  1s  1\n"),
		"wide":     fill(names+wide, "x\n"),
		"colons":   fill("", "[a] Execution time: 1 s\n"),
		"nested":   fill("", "["),
		"slashes":  fill(`{"a":"`, `\\`),
		"quotes":   fill(`{"a":"`, `\"`),
		"lines":    fill("", "{\n"),
		"objects":  fill(`{"traceEvents":[`, `{"a":1},`),
		"members":  fill(`{"traceEvents":[{`, `"ph":"X",`),
		"metadata": fill(`[`, `{"ph":"M","name":"process_name","args":{"name":"a"}},`),
	}
}

func TestHostileInputsAreErrors(t *testing.T) {
	t.Parallel()
	for name, data := range hostile(1 << 14) {
		for format, read := range optrace.Formats {
			if p, err := read(data); err == nil && (name != "rows" || format != "msmodeling-table") {
				t.Errorf("%s of %s: got %+v, want an error", format, name, p)
			}
		}
	}
}

// makeTrace makes a trace of msmodeling with n events on two streams.
func makeTrace(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	b.WriteString(`{"traceEvents": [{"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "analytic (PID: 0)"}}`)
	var ends [2]int
	for i := range n {
		stream, took := r.IntN(2), r.IntN(300)
		fmt.Fprintf(&b, `, {"name": "tensor_cast.operator_%d.default", "cat": "analytic", "ph": "X", "ts": %d, "dur": %d, "pid": 0, "tid": %d, `+
			`"args": {"Inputs": "(tensor(..., device='meta', size=(%d, 4096), dtype=torch.bfloat16),) kwargs: {}", "Output": "tensor", `+
			`"simulation_shapes": "[[%d, 4096]]", "memory_read_time_s": "1.5e-05", "compute_time_s": "2.5e-06", "is_compute_bound": "False"}}`,
			r.IntN(200), ends[stream], took, stream, i%512, i%512)
		ends[stream] += took
	}
	b.WriteString("]}")
	return b.Bytes()
}
