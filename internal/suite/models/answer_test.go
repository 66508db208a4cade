package models

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/text"
)

// expecting is a suite with one expectation, in flow style.
func expecting(t testing.TB, e string) (*config.Suite, expectation) {
	t.Helper()
	c, err := config.Body("accelgate.yaml", []byte("command: [engine]\nmodels: [m]\ntokens: ids\nmetrics: [{name: tps, json: tps, better: higher}]\nexpect: ["+e+"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := load(c)
	if err != nil {
		t.Fatal(err)
	}
	return c, b.Expect[0]
}

// both holds an answer against an expectation in the job that measures and in the one
// that judges its record.
func both(t testing.TB, e, answer, ids string) (unverified string, measured, judged error) {
	t.Helper()
	c, want := expecting(t, e)
	r := bench.Result{Cell: cellOf("model", "m"), Outcome: bench.Passed}
	reader := &reader{tokens: new(formats.Path)}
	measured = listed(reader.check(&r, formats.NewDocument([]byte("["+ids+"]")), func() (string, error) { return answer, nil }, want))
	check, err := Recheck(c)
	if err != nil {
		t.Fatal(err)
	}
	unverified, judged = check(&r)
	return unverified, measured, judged
}

// TestAnswers: both jobs say the same, in the same words.
func TestAnswers(t *testing.T) {
	for _, o := range []struct{ expect, answer, ids, want string }{
		{"{contains: [BLUE, sky]}", "The sky is blue.", "", ""},
		{"{contains: [red]}", "The sky\nis blue.", "", `the answer lacks "red": got "The sky\nis blue."`},
		{"{matches: 'sky is (blue|grey)'}", "The sky is blue.", "", ""},
		{"{matches: ['^The', 'e\\.$']}", "The sky is blue.", "", ""},
		{"{matches: ['^The', '^sky']}", "The sky is blue.", "", `the answer does not match "^sky": got "The sky is blue."`},
		{"{matches: '(?i)SKY'}", "The sky\xff", "", ""},
		{"{matches: 'sky\xef\xbf\xbd'}", "The sky\xff", "", ""},
		{"{text: The sky is blue.}", "The sky is blue.", "", ""},
		{"{text: The sky is blue.}", "The sky is red\x1b[0m.", "", `the answer differs at byte 11 after "The sky is ": got "red\x1b[0m.", want "blue."`},
		{"{text: é}", "è", "", `the answer differs at byte 0: got "è", want "é"`},
		{"{text: aé}", "aé!", "", `the answer differs at byte 3 after "aé": got "!", want ""`},
		{"{text: abcdefghij, edit_distance: 20%}", "abXdefghi", "", ""},
		{"{text: abcdefghij, edit_distance: 20%}", "abXdefgh", "", `the answer is more than 2 edits (20%) from text: it differs at byte 2 after "ab": got "Xdefgh", want "cdefghij"`},
		{"{text: äöü, edit_distance: 34%}", "äou", "", `the answer is more than 1 edit (34%) from text: it differs at byte 2 after "ä": got "ou", want "öü"`},
		{"{text: äöü, edit_distance: 34%}", "äoü", "", ""},
		{"{text: abc, edit_distance: 0%}", "abd", "", `the answer is more than 0 edits (0%) from text: it differs at byte 2 after "ab": got "d", want "c"`},
		{"{tokens: [1, 2, 3], tokens_prefix: 2}", "", "1, 2, 4, 5", ""},
		{"{tokens: [1, 2, 3], tokens_prefix: 2}", "", "1, 2", ""},
		{"{tokens: [1, 2, 3], tokens_prefix: 3}", "", "1, 2, 4, 5", "token 3 of 3 is 4, want 3: got [1 2 4], want [1 2 3]"},
		{"{tokens: [1, 2, 3], tokens_prefix: 2}", "", "1", "answered 1 token, want 2: got [1], want [1 2]"},
		{"{tokens: [1], tokens_prefix: 1}", "", "1" + strings.Repeat(", 0", 40_000), ""},
		{"{json: a.b, equals: red}", `{"a": {"b": "red"}}`, "", ""},
		{"{json: '$[1]', equals: true}", `[0, true]`, "", ""},
		{"{json: a, equals: 9007199254740993}", `{"a": 9007199254740993}`, "", ""},
		{"{json: a, equals: red}", "Here it is:\n{\"a\": \"red\"}", "", ""},
		{"{json: a, equals: the red one}", `{"a": "the blue one"}`, "", `the answer's value at "a" differs at byte 4 after "the ": got "blue one", want "red one"`},
		{"{json: a, equals: red}", `{"b": "red"}`, "", `the answer has no value at "a": there is none: got "{\"b\": \"red\"}"`},
		{"{json: a, equals: red}", `{"a": null}`, "", `the answer has no value at "a": there is none: got "{\"a\": null}"`},
		{"{json: a, equals: red}", `red`, "", `the answer has no value at "a": output holds no JSON result: no line starts with a JSON object: got "red"`},
		{"{json: a, equals: red}", `{"a": [1]}`, "", `the answer has no value at "a": value at a is an array, not a string, number or truth value: got "{\"a\": [1]}"`},
		{"{json: a, equals: 21.5}", `{"a": 2.15e1}`, "", ""},
		{"{json: a, equals: 21.5}", `{"a": 21.50001}`, "", `the answer's value at "a" is 21.50001, want 21.5`},
		{"{json: a, equals: 21.5, tolerance: 0.1}", `{"a": 21.6}`, "", ""},
		{"{json: a, equals: 21.5, tolerance: 0.1}", `{"a": 21.4}`, "", ""},
		{"{json: a, equals: 21.5, tolerance: 0.1}", `{"a": 21.61}`, "", `the answer's value at "a" is 21.61, want 21.5 within 0.1`},
		{"{json: a, equals: -200, tolerance: 0.5%}", `{"a": -201}`, "", ""},
		{"{json: a, equals: -200, tolerance: 0.5%}", `{"a": -198.9}`, "", `the answer's value at "a" is -198.9, want -200 within 0.5%`},
		{"{json: a, equals: 1, tolerance: 5}", `{"a": 1e999}`, "", `the answer has no value at "a": value at a: "1e999" is too large for a number: got "{\"a\": 1e999}"`},
		{"{json: a, equals: 1.0e+308, tolerance: 5%}", `{"a": -1e308}`, "", `the answer's value at "a" is -1e+308, want 1e+308 within 5%`},
		{"{json: a, equals: 1, tolerance: 5}", `{"a": "1"}`, "", `the answer has no value at "a": value at a is the string "1", not a number: got "{\"a\": \"1\"}"`},
		{"{contains: [red], matches: ['^The', '^sky', green], text: no, tokens: [1]}", "The sky", "2", `5 expectations are not met: the answer lacks "red": got "The sky"; the answer does not match "^sky": got "The sky"; ` +
			`the answer does not match "green": got "The sky"; the answer differs at byte 0: got "The sky", want "no"; token 1 of 1 is 2, want 1: got [2], want [1]`},
		{"{tokens: [1, 2, 3]}", "", "1, 2, 3", ""},
		{"{tokens: [1, 2, 3]}", "", "1, 2, 4, 5, 6, 7, 8, 9", "token 3 of 3 is 4, want 3: got [1 2 4 5 6 7 8 ...], want [1 2 3]"},
		{"{tokens: [1, 2, 3, 4, 5, 6]}", "", "1, 2, 3, 4, 5", "answered 5 tokens, want 6: got [... 2 3 4 5], want [... 2 3 4 5 6]"},
	} {
		unverified, measured, judged := both(t, o.expect, o.answer, o.ids)
		for job, err := range map[string]error{"measured": measured, "judged": judged} {
			if o.want == "" && err != nil || o.want != "" && (err == nil || err.Error() != o.want) {
				t.Errorf("%s: %q, %s: got %v, want %s", o.expect, o.answer, job, err, o.want)
			}
		}
		if unverified != "" {
			t.Errorf("%s: %s", o.expect, unverified)
		}
	}
}

// TestCutAnswers: a record that was cut shows only what stands in it.
func TestCutAnswers(t *testing.T) {
	long := "The sky " + strings.Repeat("is blue ", maxOutput)
	for expect, verified := range map[string]bool{
		"{contains: [sky]}":                   true,
		"{contains: [...]}":                   false,
		"{matches: 'sky is'}":                 true,
		"{matches: 'blue \\.\\.'}":            false,
		"{matches: '(?s)sky.*'}":              false, // a match that reaches the cut
		"{matches: [sky, 'grey$']}":           false,
		"{json: a, equals: b}":                false,
		"{text: The sky, edit_distance: 99%}": false,
	} {
		c, _ := expecting(t, expect)
		check, err := Recheck(c)
		if err != nil {
			t.Fatal(err)
		}
		r := bench.Result{Cell: cellOf("model", "m"), Outcome: bench.Passed, Output: text.Clip(long, maxOutput)}
		if unverified, err := check(&r); err != nil || (unverified == "") != verified {
			t.Errorf("%s: %q, %v, want verified: %v", expect, unverified, err, verified)
		}
	}
}

// TestLongAnswers: an answer that is too long to be compared is not the recorded one.
func TestLongAnswers(t *testing.T) {
	_, e := expecting(t, "{text: "+strings.Repeat("a", maxCompared)+", edit_distance: 5%}")
	for n, want := range map[int]string{maxCompared: "", maxCompared + 1: "has 20001 characters", maxCompared * 95 / 100: "", maxCompared*95/100 - 1: "more than 1000 edits"} {
		if err := listed(checkText(strings.Repeat("a", n), e)); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d characters: %v, want %q", n, err, want)
		}
	}
}

// FuzzAnswers: both jobs come to the same end, whatever a program answers.
func FuzzAnswers(f *testing.F) {
	var suites []*config.Suite
	var expected []expectation
	for _, e := range []string{
		"{contains: [a, é]}", "{matches: ['^a', '(?s)b.*c']}", "{text: The sky is blue., edit_distance: 20%}", "{text: é}",
		"{json: a, equals: red}", "{json: '$[-1].b', equals: 5, tolerance: 0.5%}", "{tokens: [1, 2, 3], tokens_prefix: 2}", "{tokens: [1]}",
	} {
		c, want := expecting(f, e)
		suites, expected = append(suites, c), append(expected, want)
	}
	f.Add("The sky is blue.", "1, 2, 3")
	f.Add("{\"a\": \"red\"}", "1")
	f.Add("[{\"b\": 5.02}]", "1, 2")
	f.Add("ab\xff\nc", "9999999999999999999")
	f.Fuzz(func(t *testing.T, answer, ids string) {
		for i, e := range expected {
			r := bench.Result{Cell: cellOf("model", "m"), Outcome: bench.Passed}
			reader := &reader{tokens: new(formats.Path)}
			measured := reader.check(&r, formats.NewDocument([]byte("["+ids+"]")), func() (string, error) { return answer, nil }, e)
			check, err := Recheck(suites[i])
			if err != nil {
				t.Fatal(err)
			}
			unverified, judged := check(&r)
			if unverified == "" && (measured == nil) != (judged == nil) {
				t.Errorf("%q, %q, expectation %d: measured %v, judged %v", answer, ids, i, measured, judged)
			}
		}
	})
}

// FuzzDifference: a difference is short and printable, whatever differs.
func FuzzDifference(f *testing.F) {
	f.Add("The sky is blue.", "The sky is red.")
	f.Add(strings.Repeat("\u202e", 100)+"a", strings.Repeat("\u202e", 100)+"\x1b##[")
	f.Add("\xff", "\xfe")
	f.Fuzz(func(t *testing.T, got, want string) {
		if got == want {
			return
		}
		d := difference(got, want)
		if !text.Printable(strings.ReplaceAll(d, "\uFFFD", "?")) || utf8.RuneCountInString(d) > 200 {
			t.Errorf("%q and %q: %s", got, want, d)
		}
	})
}
