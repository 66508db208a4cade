package bench_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
)

// documentWith is a valid document but for the members and results it is given.
func documentWith(members, results string) string {
	return fmt.Sprintf(`{"schema": 1, "tool": "x", "host": {"label": "h"}, "started": "2026-01-01T00:00:00Z", "metrics": [{"name": "m", "better": "higher"}]%s, "results": [%s]}`,
		members, results)
}

// TestDecodeRunRefuses: each document is one that package json alone takes, or
// that costs more memory than it should.
func TestDecodeRunRefuses(t *testing.T) {
	t.Parallel()
	cell := func(members string) string {
		return documentWith("", `{"cell": {"id": "a"}, "outcome": "passed"`+members+"}")
	}
	if _, err := bench.DecodeRun([]byte(cell(`, "context": {"A": "1", "a": "2"}, "samples": [{"metric": "m", "values": [1]}]`))); err != nil {
		t.Fatalf("a valid document is refused: %v", err)
	}
	many := func(s string, n int) string { return strings.Repeat(s+",", n) + s }
	for name, c := range map[string]struct{ document, want string }{
		"a key twice":                      {cell(`, "outcome": "failed"`), `the key "outcome" occurs twice`},
		"a key twice at the top":           {documentWith(`, "results": []`, ""), `the key "results" occurs twice`},
		"a key twice, once escaped":        {cell(`, "out\u0063ome": "failed"`), "unknown key"},
		"a name twice":                     {cell(`, "context": {"a": "1", "\u0061": "2"}`), `the key "a" occurs twice`},
		"another letter case":              {cell(`, "Outcome": "failed"`), `unknown key "Outcome"`},
		"a letter that folds to another":   {documentWith(", \"re\u017fults\": []", ""), "unknown key"},
		"many names, one twice":            {cell(`, "context": {"x": "", ` + numbered(100) + `, "x": ""}`), `the key "x" occurs twice`},
		"too many names":                   {cell(`, "context": {` + numbered(5000) + `}`), "more than 4096 keys"},
		"an unknown key":                   {cell(`, "verdict": "passed"`), `unknown field "verdict" at "/results/0"`},
		"null for a number":                {cell(`, "samples": [{"metric": "m", "values": [null]}]`), "null stands in a list"},
		"not UTF-8":                        {cell(`, "reason": "` + "\xff" + `"`), "not UTF-8"},
		"deep nesting":                     {documentWith(`, "x": `+strings.Repeat("[", 5000)+strings.Repeat("]", 5000), ""), "deeper than 16"},
		"deeper than package json takes":   {strings.Repeat("[", 20000), "max depth"},
		"a long text":                      {cell(`, "reason": "` + strings.Repeat("x", 1<<20+1) + `"`), "more than 1048576 bytes"},
		"a long id":                        {documentWith("", `{"cell": {"id": "`+strings.Repeat("x", 5000)+`"}, "outcome": "passed"}`), "more than 4096 bytes"},
		"a long name of a metric":          {cell(`, "samples": [{"metric": "` + strings.Repeat("x", 300) + `", "values": [1]}]`), "more than 255 bytes"},
		"many empty samples":               {cell(`, "samples": [` + many("{}", 1000) + "]"), "samples has more than 1000"},
		"many values":                      {cell(`, "samples": [{"metric": "m", "values": [` + many("1", 1000) + "]}]"), "values has more than 1000"},
		"many operators":                   {cell(`, "breakdowns": [{"title": "", "unit": "", "entries": [` + many("{}", 100_000) + "]}]"), "entries has more than 100000"},
		"an empty operator":                {cell(`, "breakdowns": [{"title": "", "unit": "", "entries": [{}]}]`), "in 0 calls"},
		"negative calls":                   {cell(`, "breakdowns": [{"title": "", "unit": "", "entries": [{"name": "a", "calls": -1}]}]`), "in -1 calls"},
		"more calls than can be added up":  {cell(`, "breakdowns": [{"title": "", "unit": "", "entries": [{"name": "a", "calls": 9223372036854775807}]}]`), "in 9223372036854775807 calls"},
		"2^63 calls":                       {cell(`, "breakdowns": [{"title": "", "unit": "", "entries": [{"name": "a", "calls": 9223372036854775808}]}]`), "does not fit"},
		"2^62 values":                      {cell(`, "samples": [{"metric": "m", "summary": {"median": 1, "mad": 0, "n": 4611686018427387904}}]`), "summary"},
		"2^62 observations":                {cell(`, "samples": [{"metric": "m", "values": [1], "estimates": [{"n": 4611686018427387904, "low": 1, "high": 1}]}]`), "estimate"},
		"2^62 retries":                     {cell(`, "retries": 4611686018427387904`), "was repeated"},
		"a negative time":                  {cell(`, "wall_ms": -1`), "took -1 ms"},
		"negative cores":                   {strings.Replace(cell(""), `"label": "h"`, `"label": "h", "cores": -1`, 1), "-1 cores"},
		"an empty id that is not selected": {documentWith(`, "unselected": [""]`, ""), "not selected"},
		"a long condition":                 {documentWith(`, "context": {"`+strings.Repeat("x", 300)+`": ""}`, ""), "condition"},
		"NaN":                              {cell(`, "wall_ms": NaN`), "invalid character"},
		"a number over all":                {cell(`, "wall_ms": 1e999`), "does not fit"},
	} {
		_, err := bench.DecodeRun([]byte(c.document))
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%s: %.300v, want one line with %q", name, err, c.want)
		}
	}
}

func numbered(n int) string {
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprintf(`"k%d": ""`, i))
	}
	return strings.Join(keys, ", ")
}

// TestDecodeRunErrorsAreOneLine: an id that leaves its place in a message could
// write lines in our name.
func TestDecodeRunErrorsAreOneLine(t *testing.T) {
	t.Parallel()
	id := `\n::error::accelgate: passed\u001b[2J\u202e` + strings.Repeat("x", 3000)
	for _, document := range []string{
		documentWith("", `{"cell": {"id": "`+id+`"}, "outcome": "`+id+`"}`),
		documentWith("", `{"cell": {"id": "`+id+`"}, "outcome": "passed"}, {"cell": {"id": "`+id+`"}, "outcome": "passed"}`),
		strings.Replace(documentWith("", ""), `"better": "higher"`, `"better": "`+id+`"`, 1),
	} {
		_, err := bench.DecodeRun([]byte(document))
		if err == nil || strings.ContainsAny(err.Error(), "\n\x1b\u202e") || len(err.Error()) > 600 {
			t.Errorf("error %.300q, want one short line", err)
		}
	}
}

// TestDecodeRunTakesLittleMemory: lists of small values are refused before they
// are made.
func TestDecodeRunTakesLittleMemory(t *testing.T) {
	for key, element := range map[string]string{"metrics": "{}", "accelerators": "{}", "left_out": "{}", "unselected": `""`, "shards": `""`, "warnings": `""`} {
		list := `"` + key + `": [` + strings.Repeat(element+",", 1<<20) + element + "]"
		document := []byte(`{"schema": 1, "host": {` + list + `}}`)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := bench.DecodeRun(document)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err == nil || got > 1<<20 {
			t.Errorf("%s: %d bytes for a document of %d, %v", key, got, len(document), err)
		}
	}
}

// FuzzDecodeRun: what is accepted is what it says, to another reader as well.
func FuzzDecodeRun(f *testing.F) {
	f.Add([]byte(documentWith(`, "context": {"A": "\u00e4"}, "unselected": ["x"], "left_out": [{"cell": "y", "reason": ""}]`,
		`{"cell": {"id": "a"}, "outcome": "passed", "counts": {"ok": 3}, "samples": [{"metric": "m", "values": [1, 2.5e-3]}]}`)))
	f.Add([]byte(`{"schema":1,"schema":1}`))
	f.Add([]byte(`[{"a":[[]],"b":"\"\\"}, null]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := bench.DecodeRun(data)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("DecodeRun(%q) = %q, want one line", data, err)
			}
			return
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		again, err := bench.DecodeRun(text)
		if err != nil {
			t.Fatalf("%s is refused when written again as %s: %v", data, text, err)
		}
		if diff := cmp.Diff(got, again, cmp.Comparer(func(a, b map[string]string) bool { return fmt.Sprint(a) == fmt.Sprint(b) })); diff != "" {
			t.Errorf("%q read again (-first +second):\n%s", data, diff)
		}
	})
}
