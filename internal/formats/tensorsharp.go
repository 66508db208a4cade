package formats

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// What TensorSharp.Cli prints and TensorSharp.TestMatrix reads, by their
// sources at commit 4d29dd2b of github.com/zhongkaifu/TensorSharp. Its log is
// that of .NET's simple console, one line an entry, with a time, and since the
// logger has a thread of its own, an entry may come later than what was printed
// after it.
var (
	tsLoad      = lazyregexp.New(`Loaded model .*? elapsedMs=(\S+)`)
	tsPrefill   = lazyregexp.New(`prefill complete:\s*tokens=\d+\s*ms=\S+\s*tokensPerSec=(\S+)`)
	tsDecode    = lazyregexp.New(`decode complete:\s*tokens=\d+\s*ms=\S+\s*tokensPerSec=(\S+)`)
	tsBenchmark = lazyregexp.New(`benchmark summary:\s*bestPrefillMs=\S+\s*bestPrefillTps=(\S+)\s*bestDecodeMs=\S+\s*bestDecodeTps=(\S+)`)
	tsTurn      = lazyregexp.New(
		`(?m)^` + tsTime + `?(?:[a-z]+: )?(?:\S+\[\d+\] )?multi-turn content chars=\d+(?: tokens=(\d+))?.*? tokPerSec=(\S+) preview=(.*)$`,
	)
	tsMarker   = lazyregexp.New(`(?m)^=== Generated Output ===[ \t\r]*\n`)
	tsLogLine  = lazyregexp.New(`^` + tsTime + `?` + tsEntry + `(?: |$)`)
	tsLogAtEnd = lazyregexp.New(`^` + tsTime + `(?:trce|dbug|info|warn|fail|crit): `)
)

// maxTurns bounds what a hostile program can make us remember.
const maxTurns = 1000

const (
	tsTime  = `(?:\d\d:\d\d:\d\d )`
	tsEntry = `(?:(?:trce|dbug|info|warn|fail|crit): [A-Za-z_][\w.+` + "`" + `]*\[\d+\])`
)

// tensorSharp reads one run of TensorSharp.Cli: prefill_tps and decode_tps in
// tokens per second, model_load_ms in milliseconds, and the answer.
//
// As in TensorSharp, the first match of each line counts, standard error comes
// before standard output, and the summary of a benchmark, which is the best of
// its runs, counts rather than the lines of an inference. NaN stands for what
// the run does not have. A conversation of several turns prints no such lines;
// its decoding speed is that over all turns.
func tensorSharp(out Output) (Reading, error) {
	text := bytes.Join([][]byte{out.Stderr, out.Stdout}, []byte("\n"))
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	turns := tsTurn.FindAllSubmatch(text, maxTurns)
	values, err := tsSpeeds(text, turns)
	if err != nil {
		return Reading{}, err
	}
	if m := tsLoad.FindSubmatch(text); m != nil {
		if values, err = tsNumber(values, "model_load_ms", m[1]); err != nil {
			return Reading{}, err
		}
	}
	reading, err := newReading(values)
	if err != nil {
		return Reading{}, err
	}
	reading.Answer, reading.HasAnswer = tsAnswer(out.Stdout, turns)
	return reading, nil
}

// tsSpeeds returns the speeds that are printed. If all of them are zero,
// nothing was measured.
func tsSpeeds(text []byte, turns [][][]byte) (values []Value, err error) {
	var prefill, decode []byte
	if m := tsPrefill.FindSubmatch(text); m != nil {
		prefill = m[1]
	}
	if m := tsDecode.FindSubmatch(text); m != nil {
		decode = m[1]
	}
	if m := tsBenchmark.FindSubmatch(text); m != nil {
		prefill, decode = m[1], m[2]
	}
	if values, err = tsNumber(values, "prefill_tps", prefill); err != nil {
		return nil, err
	}
	if decode == nil && len(turns) > 0 {
		values, err = tsTurns(values, turns)
	} else {
		values, err = tsNumber(values, "decode_tps", decode)
	}
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		if v.Value > 0 {
			return values, nil
		}
	}
	if len(values) > 0 {
		return nil, errors.New("every speed is 0, so nothing was measured: see the program's log")
	}
	return nil, nil
}

// tsNumber appends a number unless it is NaN or was not printed.
func tsNumber(values []Value, metric string, printed []byte) ([]Value, error) {
	if printed == nil || string(printed) == "NaN" {
		return values, nil
	}
	v, err := finite(string(printed))
	if err == nil && v < 0 {
		err = fmt.Errorf("%v is negative", v)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: see the program's log", metric, err)
	}
	return append(values, Value{metric, v}), nil
}

// tsTurns appends the decoding speed over all turns: their tokens over the time
// that they took, to three decimals. A turn that does not say how many tokens it
// had counts as one.
func tsTurns(values []Value, turns [][][]byte) ([]Value, error) {
	var tokens, seconds float64
	for _, t := range turns {
		speed, err := tsNumber(nil, "decode_tps", t[2])
		if err != nil {
			return nil, err
		}
		n, err := strconv.ParseFloat(string(t[1]), 64)
		if err != nil {
			n = 1
		}
		if len(speed) == 1 && speed[0].Value > 0 {
			tokens, seconds = tokens+n, seconds+n/speed[0].Value
		}
	}
	if seconds > 0 {
		values = append(values, Value{"decode_tps", math.Round(tokens/seconds*1000) / 1000})
	}
	return values, nil
}

// tsAnswer returns the text after the marker, or what the model said in each
// turn of a conversation.
//
// TensorSharp.TestMatrix ends the text at the first line that begins like a log
// entry, "Error: " and "08:01:12 ERROR: " among them, which are answers to its
// own question about a log. Here only lines that name a category and an event,
// as every entry does, are no part of the answer, wherever they stand; and at
// its end, lines with a time and one of the logger's own level names.
func tsAnswer(stdout []byte, turns [][][]byte) (answer string, ok bool) {
	stdout = append(bytes.ReplaceAll(stdout, []byte("\r\n"), []byte("\n")), '\n')
	at := tsMarker.FindIndex(stdout)
	if at == nil {
		var said []string
		for _, t := range turns {
			said = append(said, string(t[3]))
		}
		return strings.Join(said, "\n"), len(said) > 0
	}
	var kept []string
	for line := range strings.Lines(string(stdout[at[1]:])) {
		if line = strings.TrimSuffix(line, "\n"); !tsLogLine.MatchString(line) {
			kept = append(kept, line)
		}
	}
	for len(kept) > 0 && (strings.TrimSpace(kept[len(kept)-1]) == "" || tsLogAtEnd.MatchString(kept[len(kept)-1])) {
		kept = kept[:len(kept)-1]
	}
	return strings.Join(kept, "\n"), true
}
