package formats

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// perplexityLines are what llama-perplexity prints at its end, in each of its modes, by
// what stands before the colon; tools/perplexity/perplexity.cpp of llama.cpp.
// Percentages are of 100.
var perplexityLines = map[string]bench.Metric{
	"Final estimate":         score("perplexity", "", bench.Lower),
	"Mean PPL(Q)":            score("perplexity", "", bench.Lower),
	"Mean PPL(Q)/PPL(base)":  score("perplexity_ratio", "", bench.Lower),
	"Mean KLD":               signed(score("kld_mean", "", bench.Lower)),
	"99.0% KLD":              signed(score("kld_p99", "", bench.Lower)),
	"Maximum KLD":            informal(signed(score("kld_max", "", bench.Lower))),
	"RMS Δp":                 score("delta_p_rms", "%", bench.Lower),
	"Same top p":             score("same_top_p", "%", bench.Higher),
	"Final Winogrande score": score("winogrande_acc", "%", bench.Higher),
	"Final result":           score("multiple_choice_acc", "%", bench.Higher),
}

func score(name, unit string, better bench.Direction) bench.Metric {
	return bench.Metric{Name: name, Unit: unit, Better: better, Kind: bench.Ratio}
}

// signed is a number that rounding may put below 0.
func signed(m bench.Metric) bench.Metric {
	m.Kind = bench.Score
	return m
}

func informal(m bench.Metric) bench.Metric {
	m.Informational = true
	return m
}

func isPerplexity(data []byte) bool {
	s, err := perplexity(data)
	return err != nil || s != nil
}

// perplexity reads what llama-perplexity prints. It is one cell: the program measures
// one thing at a time. What is printed twice is two runs, and an error.
func perplexity(data []byte) (*sheet, error) {
	s := &sheet{}
	hellaSwag := "" // the score after each task; the last one counts
	for line := range bytes.Lines(data) {
		if score, ok := hellaSwagScore(line); ok {
			hellaSwag = score
		}
		m, fields, ok := perplexityLine(line)
		if !ok {
			continue
		}
		if err := s.print(m, strings.TrimSuffix(fields[0], "%")); err != nil {
			return nil, err
		}
		if len(fields) > 2 && (fields[1] == "+/-" || fields[1] == "±") {
			s.stdErr("", m.Name, strings.TrimSuffix(fields[2], "%"))
		}
	}
	if len(s.rows) == 0 && hellaSwag != "" {
		if err := s.print(score("hellaswag_acc", "%", bench.Higher), hellaSwag); err != nil {
			return nil, err
		}
	}
	if len(s.rows) == 0 {
		return nil, nil
	}
	return s, nil
}

// printedPerplexity reads standard output and, if it has no result, standard error,
// where llama.cpp's log is since 2026.
func printedPerplexity(out Output) (Reading, error) {
	read := listed(perplexity)
	r, err := read(out)
	if err != nil || len(r.Values) > 0 {
		return r, err
	}
	return read(Output{Stdout: out.Stderr})
}

// withoutLogTime returns a line from what follows the time and the level of the log, as in "0.04.584.348 I Final estimate".
// Before them the line may have the beginning of another one, which goes on on standard output.
func withoutLogTime(line []byte) []byte {
	at := bytes.LastIndex(line, []byte(" I "))
	if at < 0 {
		return line
	}
	time := line[bytes.LastIndexByte(line[:at], ' ')+1 : at]
	if len(time) == 0 || len(bytes.Trim(time, "0123456789.")) > 0 {
		return line
	}
	return line[at+len(" I "):]
}

// perplexityLine returns the metric of a line and its words from the number on, such as
// "5.9", "+/-", "0.03".
func perplexityLine(line []byte) (m bench.Metric, fields []string, ok bool) {
	line = withoutLogTime(line)
	before, after, found := bytes.Cut(line[:min(len(line), 256)], []byte(":"))
	if !found || len(before) == 0 || bytes.IndexByte([]byte("FM9RS "), before[0]) < 0 {
		return m, nil, false
	}
	key, _, _ := strings.Cut(strings.Join(strings.Fields(string(before)), " "), "score(")
	if strings.HasSuffix(key, "Winogrande ") {
		key += "score"
	}
	m, ok = perplexityLines[key]
	fields = strings.Fields(strings.TrimPrefix(strings.TrimSpace(string(after)), "PPL ="))
	if !ok || len(fields) == 0 || key[0] == 'F' && !slices.Contains(fields, "+/-") { // a log may have a final result, too
		return m, nil, false
	}
	return m, fields, true
}

// hellaSwagScore returns the score of a line "TASKS<tab>SCORE%<tab>[interval]".
func hellaSwagScore(line []byte) (string, bool) {
	if line[0] < '0' || line[0] > '9' || len(line) > 256 {
		return "", false
	}
	fields := strings.Split(string(line), "\t")
	if len(fields) != 3 || !strings.HasPrefix(fields[2], "[") {
		return "", false
	}
	return strings.CutSuffix(fields[1], "%")
}

// print adds a number as the program prints it.
func (s *sheet) print(m bench.Metric, number string) error {
	v, err := finite(number)
	if err != nil {
		return fmt.Errorf("%s: %w: see in the log what the program could not measure", m.Name, err)
	}
	if v == 0 && m.Name == "perplexity" {
		return errors.New("perplexity is 0, which no model has: see the log of the program")
	}
	return s.add("", m, v)
}
