package waiver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/reference/waiver"
)

func day(t testing.TB, s string) waiver.Date {
	t.Helper()
	var d waiver.Date
	if err := d.UnmarshalText([]byte(s)); err != nil {
		t.Fatal(err)
	}
	return d
}

const file = `# Regressions that we accept for a while.

- cell: qwen__cuda__tg128__baseline   # the slow one
  metric: decode_tps
  ceiling: 15%
  expires: 2026-03-31
  reason: "needs the new kernel: see the issue"
  issue: https://github.com/o/r/issues/7
  by: octocat

# only on this host
- {cell: a__b, metric: ttft_ms, host: h100-a, ceiling: 900, expires: 2025-01-01, reason: rushed}
`

func entries(t testing.TB) []waiver.Entry {
	t.Helper()
	return []waiver.Entry{
		{Cell: "qwen__cuda__tg128__baseline", Metric: "decode_tps", Ceiling: 15, Expires: day(t, "2026-03-31"),
			Reason: "needs the new kernel: see the issue", Issue: "https://github.com/o/r/issues/7", By: "octocat", Source: "waivers.yml:3"},
		{Cell: "a__b", Metric: "ttft_ms", Host: "h100-a", Ceiling: 900, Expires: day(t, "2025-01-01"), Reason: "rushed", Source: "waivers.yml:12"},
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	today := day(t, "2026-03-30")
	got, err := waiver.Read("waivers.yml", []byte(file), today)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(entries(t), got); diff != "" {
		t.Errorf("Read() (-want +got):\n%s", diff)
	}
	for _, none := range []string{"", "\n", "# none\r\n\n", "---\n", "[]\n", "\ufeff# none\n"} {
		if got, err := waiver.Read("waivers.yml", []byte(none), today); err != nil || len(got) != 0 {
			t.Errorf("Read(%q) = %v, %v, want none", none, got, err)
		}
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	e := waiver.Entry{Expires: day(t, "2026-03-31")}
	for today, want := range map[string]struct {
		left  int
		holds bool
	}{"2026-03-30": {1, true}, "2026-03-31": {0, true}, "2026-04-01": {-1, false}, "2025-03-30": {366, true}, "2025-03-29": {367, false}, "1970-01-01": {20543, false}} {
		d := day(t, today)
		if left, holds := e.Expires.DaysLeft(d), e.Expires.Holds(d); left != want.left || holds != want.holds {
			t.Errorf("on %s: %d days left, holds %v, want %d, %v", today, left, holds, want.left, want.holds)
		}
	}
	if got := waiver.DateOf(time.Date(2026, 3, 31, 23, 59, 59, 999, time.UTC)); got != e.Expires || got.String() != "2026-03-31" {
		t.Errorf("DateOf(the last second) = %s", got)
	}
	if got := waiver.DateOf(time.Date(1969, 12, 31, 12, 0, 0, 0, time.UTC)); got != -1 {
		t.Errorf("DateOf(1969) = %d, want -1", got)
	}
}

// TestReadErrors: each names the place, and ends in a next step.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	entry := func(change string) string {
		lines := []string{"cell: a", "metric: m", "ceiling: 10%", "expires: 2026-01-31", "reason: because"}
		key, _, _ := strings.Cut(change, ":")
		found := false
		for i := range lines {
			if strings.HasPrefix(lines[i], key+":") {
				lines[i], found = change, true
			}
		}
		if !found {
			lines = append(lines, change)
		}
		return "- " + strings.Join(lines, "\n  ") + "\n"
	}
	for text, want := range map[string]string{
		entry("ceiling: 0"):                          `waivers.yml:3:12: [0].ceiling: want a percentage above 0% and up to 1000%, got "0"; write for example 15%`,
		entry("ceiling: 1000.1%"):                    `got "1000.1%"`,
		entry("ceiling: -5%"):                        `got "-5%"`,
		entry("ceiling: 1e2"):                        `got "1e2"`,
		entry("ceiling: 0x10"):                       `got "0x10"`,
		entry("ceiling: .inf"):                       `got ".inf"`,
		entry("ceiling: .nan"):                       `got ".nan"`,
		entry("ceiling: 0.5"):                        `waivers.yml:3:12: [0].ceiling: 0.5 can be read in two ways; write 50% or 0.5%`,
		entry("ceiling: 1.4"):                        `waivers.yml:3:12: [0].ceiling: 1.4 can be read in two ways; write 40% or 1.4%`,
		entry("ceiling: 9.9"):                        "9.9 can be read in two ways; write 890% or 9.9%",
		entry("ceiling: 1"):                          "1 can be read in two ways; write 100% or 1%",
		entry("ceiling: [1]"):                        "want text, got a list",
		entry("expires: 2026-02-30"):                 `waivers.yml:4:12: [0].expires: "2026-02-30" is not a day; write it as 2026-01-31`,
		entry("expires: tomorrow"):                   `"tomorrow" is not a day`,
		entry("expires: 2026-1-2"):                   `"2026-1-2" is not a day`,
		entry("expires: 2026-01-31T00:00:00Z"):       "is not a day",
		entry("expires: 2027-01-03"):                 "waivers.yml:4:12: [0].expires: 2027-01-03 is 367 days ahead; write a day until 2027-01-02",
		entry("reason: ' '"):                         "waivers.yml:5:11: [0].reason: holds control or invisible characters",
		entry("reason: ''"):                          "waivers.yml:5:11: [0].reason: is empty; write a value",
		entry(`reason: "a\u202eb"`):                  "control or invisible characters",
		entry(`reason: "a\nb"`):                      "control or invisible characters",
		entry("reason: " + strings.Repeat("x", 501)): "has 501 bytes, more than 500; shorten it",
		entry("cell: ''"):                            "is empty; write a value",
		entry("metric: ~"):                           "metric: has no value",
		entry("until: 2026-01-01"):                   `waivers.yml:6:3: unknown key "until" in [0]`,
		entry("expire: 2026-01-01"):                  `did you mean "expires"?`,
		entry("by: x\n  by: y"):                      `duplicate key "by" in [0], first at line 6`,
		"- cell: a\n":                                "waivers.yml:1:3: [0]: metric is missing; add \"metric:\" here",
		entry("by: x") + entry("by: y"):              "waivers.yml:7:3: [1]: this cell, metric and host have a waiver at line 1; keep one of the two",
		"waivers:\n" + entry("by: x"):                "want a list, got a mapping",
		"cell: a\n":                                  "waivers.yml:1:1: file: want a list, got a mapping; write one item per line, each starting with \"- \"",
		"just text\n":                                "want a list, got the text",
		"- a\n":                                      "want a mapping",
		"- cell: [\n":                                "not valid YAML",
		strings.Repeat(entry("by: x"), 501):          "501 waivers are more than 500; remove those that have expired",
	} {
		_, err := waiver.Read("waivers.yml", []byte(text), day(t, "2026-01-01"))
		all, ok := err.(config.Errors)
		if !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100q: %.300v, want config.Errors with %q", text, err, want)
			continue
		}
		if at := all[0].Position; at.Line < 1 || at.Column < 1 || at.File != "waivers.yml" {
			t.Errorf("%.100q: position %v", text, at)
		}
	}
}

// TestAdd: the rest of the file stays as it was, whatever its style is.
func TestAdd(t *testing.T) {
	t.Parallel()
	today := day(t, "2026-01-01")
	first := waiver.Entry{Cell: "c d", Metric: "tps", Ceiling: 12.5, Expires: day(t, "2026-02-01"), Reason: `say "it": \ # no comment`}
	other := first
	other.Ceiling, other.By = 20, "octocat"
	const block = "- cell: \"c d\"\n  metric: tps\n  ceiling: 12.5%\n  expires: 2026-02-01\n  reason: \"say \\\"it\\\": \\\\ # no comment\"\n"
	const changed = "- cell: \"c d\"\n  metric: tps\n  ceiling: 20%\n  expires: 2026-02-01\n  reason: \"say \\\"it\\\": \\\\ # no comment\"\n  by: octocat\n"
	indented := func(s string) string { return strings.TrimSuffix("  "+strings.ReplaceAll(s, "\n", "\n  "), "  ") }
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	cut := strings.TrimSuffix(file, "\n")
	for name, c := range map[string]struct {
		before string
		add    waiver.Entry
		want   string
	}{
		"a new file":                     {"", first, block},
		"appended":                       {file, first, file + block},
		"no line end":                    {cut, first, file + block},
		"a file without waivers":         {"# none\n[]\n", first, "# none\n" + block},
		"a document's start":             {"---\n", first, "---\n" + block},
		"twice":                          {file + block, first, file + block},
		"replaced at the end":            {file + block + "\n# the end\n", other, file + changed + "\n# the end\n"},
		"replaced at the start":          {"# top\n" + block + "\n" + file, other, "# top\n" + changed + "\n" + file},
		"replaced with its own comments": {strings.Replace(block, "  metric", "  # mine\n\n  metric", 1) + "# next\n" + file, other, changed + "# next\n" + file},
		"indented":                       {indented(block), other, indented(changed)},
		"appended, indented":             {indented("- {cell: a, metric: b, ceiling: 1%, expires: 2026-01-01, reason: c}\n"), first, indented("- {cell: a, metric: b, ceiling: 1%, expires: 2026-01-01, reason: c}\n" + block)},
		"a dash of its own":              {"-\n  " + strings.TrimPrefix(block, "- "), other, changed},
		"lines of Windows":               {crlf(file + block), other, crlf(file + changed)},
		"in braces":                      {"- {cell: 'c d', metric: tps, ceiling: 1%, expires: 2026-01-01, reason: x}\n" + file, other, changed + file},
		"a byte order mark":              {"\ufeff" + file, first, "\ufeff" + file + block},
	} {
		got, err := waiver.Add("waivers.yml", []byte(c.before), c.add, today)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		again, err := waiver.Add("waivers.yml", got, c.add, today)
		if err != nil || string(again) != string(got) {
			t.Errorf("%s: adding it again: %v\n%s", name, err, again)
		}
	}
}

func TestAddRefuses(t *testing.T) {
	t.Parallel()
	today := day(t, "2026-01-01")
	good := waiver.Entry{Cell: "c", Metric: "m", Ceiling: 5, Expires: day(t, "2026-02-01"), Reason: "r"}
	with := func(change func(*waiver.Entry)) waiver.Entry {
		e := good
		change(&e)
		return e
	}
	brackets := "[{cell: a, metric: b, ceiling: 1%, expires: 2026-01-01, reason: c}]\n"
	for _, c := range []struct {
		text string
		add  waiver.Entry
		want string
	}{
		{"- cell: x\n", good, "metric is missing"},
		{brackets, good, "add this by hand: - {cell: c, metric: m, ceiling: 5%, expires: 2026-02-01, reason: r}"},
		{"- {cell: a, metric: b, ceiling: 1%, expires: 2026-01-01, reason: c}\n...\n", good, "by hand"},
		{"", with(func(e *waiver.Entry) { e.Ceiling = 1001 }), "ceiling: is 1001 %; write a percentage"},
		{"", with(func(e *waiver.Entry) { e.Reason = "" }), "reason: is empty"},
		{"", with(func(e *waiver.Entry) { e.Cell = "a\n- cell: b" }), "cell: holds control"},
		{"", with(func(e *waiver.Entry) { e.Expires = day(t, "2027-06-01") }), "days ahead"},
	} {
		if got, err := waiver.Add("waivers.yml", []byte(c.text), c.add, today); err == nil || !strings.Contains(err.Error(), c.want) || got != nil {
			t.Errorf("Add to %q: %q, %v, want an error with %q", c.text, got, err, c.want)
		}
	}
}

// FuzzRead: what is read keeps to the bounds, and another waiver can be added
// to it that changes no other, or the file is left to people.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{file, "", "[]", "- cell: a\n", "- &a {cell: a, metric: b, ceiling: 1%, expires: 2026-01-01, reason: c}\n- *a\n",
		"  - cell: a\r\n    metric: b\r\n    ceiling: 1%\r\n    expires: 2026-01-01\r\n    reason: |-\r\n      x\r\n", "-\n # c\n cell: a\n metric: m\n ceiling: 1\n expires: 2026-01-01\n reason: r"} {
		f.Add([]byte(seed), "a", "it's: \"x\" # y")
	}
	f.Fuzz(func(t *testing.T, data []byte, cell, reason string) {
		const today = waiver.Date(20_454) // 2026-01-01
		list, err := waiver.Read("w.yml", data, today)
		if err != nil {
			if _, ok := err.(config.Errors); !ok || strings.ContainsAny(err.Error(), "\x1b\u202e") {
				t.Errorf("Read() = %q, want config.Errors without control characters", err)
			}
			return
		}
		for _, e := range list {
			if e.Cell == "" || e.Metric == "" || e.Reason == "" || !(e.Ceiling > 0 && e.Ceiling <= waiver.MaxCeiling) || e.Expires.DaysLeft(today) > waiver.MaxDays {
				t.Errorf("%+v is out of bounds", e)
			}
		}
		add := waiver.Entry{Cell: cell, Metric: "b", Ceiling: 7, Expires: today, Reason: reason}
		text, err := waiver.Add("w.yml", data, add, today)
		if err != nil {
			return
		}
		after, err := waiver.Read("w.yml", text, today)
		if err != nil {
			t.Fatalf("%q became %q: %v", data, text, err)
		}
		found := 0
		for i, e := range after {
			e.Source = "" // lines move
			if i < len(list) {
				list[i].Source = ""
			}
			if e == add {
				found++
			} else if i >= len(list) || list[i] != e {
				t.Errorf("%q became %q, which changes waiver %d", data, text, i)
			}
		}
		if found != 1 {
			t.Errorf("%q became %q, which has the waiver %d times", data, text, found)
		}
	})
}
