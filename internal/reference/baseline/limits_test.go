package baseline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/reference/baseline"
)

// TestParseIsBounded gives it what was made to hurt.
func TestParseIsBounded(t *testing.T) {
	const n = 1 << 17
	for name, c := range map[string]struct{ data, want string }{
		"deep arrays":      {`{"x": ` + strings.Repeat("[", n), "b.json:1:70: values are nested more than 64 deep"},
		"deep objects":     {`{"x": ` + strings.Repeat(`{"a":`, n), "nested more than 64 deep"},
		"deep in an entry": {entries(strings.Repeat(`{"a":`, n)), "nested more than 64 deep"},
		"errors on a line": {`{"entries": [` + strings.Repeat(`{,},`, n) + `]}`, "b.json:1:15: "},
		"empty entries":    {`{"entries": [` + strings.Repeat(`{},`, n) + `]}`, "b.json: and 262124 more; correct these first"},
		"too many entries": {`{"entries": [` + strings.Repeat(`{},`, 1_000_001) + `]}`, "more than 1000000 entries"},
		"metrics":          {entry(members("metrics", 1001, `{"median": 1}`), ``), "b.json:2:21928: more than 1000 metrics in one entry: correct it"},
		"operators":        {entry(`"operators": [`+strings.Repeat("{}, ", 1001)+`]`, ``), "b.json:2:4032: more than 1000 operators in one entry: correct it"},
		"anchored medians": {entry(`"anchor": {`+members("metrics", 1001, "1")+"}", ``), "more than 1000 anchored medians in one entry: correct it"},
		"the next entry":   {entry(`"operators": [`+strings.Repeat("{}, ", 5000)+`]`, `"ok": 7`), `b.json:3:24: "ok" must be true or false`},
		"accelerators":     {`{"fingerprint": {"accelerators": [` + strings.Repeat("{},", n) + "]}}", "b.json:1:17: fingerprint has more than 64 KiB"},
		"long number":      {`{"entries": [{"decode_tps": 1` + strings.Repeat("0", n) + `}]}`, `"decode_tps" is 1000`},
		"long string":      {`{"captured_at": "` + strings.Repeat("é", n) + `"}`, `"captured_at" is "éé`},
		"repeated keys":    {`{` + strings.Repeat(`"a":1,`, n) + `}`, "b.json: and 131051 more; correct these first"},
		"open string":      {`{"` + strings.Repeat("a", n), "the file ends where the end of a string should be"},
		"open entries":     {`{"entries": [` + strings.Repeat(`{"a" `, n), "where a colon should be"},
		"comments":         {strings.Repeat("/**/", n) + "/", "b.json:1:524289: this comment is not closed"},
	} {
		_, err := baseline.Parse("b.json", []byte(c.data))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %.300v, want one with %q", name, err, c.want)
		} else if n := len(err.Error()); n > 8<<10 {
			t.Errorf("%s: the message has %d bytes", name, n)
		}
	}

	path := filepath.Join(t.TempDir(), "b.json")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 256<<20+1); err != nil {
		t.Fatal(err)
	}
	if _, err := baseline.Load(path); err == nil || !strings.Contains(err.Error(), "b.json: larger than 256 MiB") {
		t.Errorf("more than 256 MiB: error is %v", err)
	}

	// As deep as it may be, and as many keys as one likes.
	parse(t, `{"x": `+strings.Repeat("[", 63)+strings.Repeat("]", 63)+`}`)
	var many strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&many, `"k%d": %d, `, i, i)
	}
	if got := marshal(t, parse(t, `{`+many.String()+`}`)); strings.Count(got, "k") < 20000 {
		t.Errorf("only %d of 20000 keys were kept", strings.Count(got, "k"))
	}
}

// entry makes a file of an entry with members on line 2 and one with others on
// line 3.
func entry(members, others string) string {
	return entries(`{"case_id": "a", `+members+`, "ok": true}`, `{"case_id": "b", `+others+`, "ok": false}`)
}

// members makes an object of n members.
func members(name string, n int, value string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%d": %s, `, i, value)
	}
	return fmt.Sprintf("%q: {%s}", name, b.String())
}

// TestParseMemory: a few bytes of a hostile file take little memory.
func TestParseMemory(t *testing.T) {
	for name, c := range map[string]struct {
		member  string
		entries int
		want    string // in the error
	}{
		"one list":         {`"operators": [` + strings.Repeat("{},", 1<<19) + `]`, 1, "more than 1000 operators"},
		"operators":        {`"operators": [` + strings.Repeat("{},", 999) + `]`, 500, ""},
		"unknown members":  {`"operators": [` + strings.Repeat(`{"a":1},`, 999) + `]`, 200, ""},
		"empty metrics":    {members("metrics", 999, "{}"), 200, "has no median"},
		"shortest metrics": {members("metrics", 999, `{"median":1}`), 100, ""},
	} {
		var lines []string
		for i := range c.entries {
			lines = append(lines, fmt.Sprintf(`{"case_id": "%d", "ok": false, %s}`, i, c.member))
		}
		data := []byte(entries(lines...))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := baseline.Parse("b.json", data)
		runtime.ReadMemStats(&after)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error is %.300v, want %q", name, err, c.want)
		}
		allocated := after.TotalAlloc - before.TotalAlloc
		if limit := uint64(33 * len(data)); allocated > limit {
			t.Errorf("%s: allocated %d bytes for %d, want at most %d", name, allocated, len(data), limit)
		}
	}
}
