package suite_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite"
)

// known looks up the names a and b.
func known(name string) (string, error) {
	switch name {
	case "a":
		return "1", nil
	case "b":
		return "{a}", nil // a value is never a template
	}
	return "", fmt.Errorf("unknown placeholder {%s}", name)
}

func TestFill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ template, want, names string }{
		{"", "", ""},
		{"plain", "plain", "plain"},
		{"x{a}y{b}", "x1y{a}", "x1y{a}"},
		{"{{a}}", "{a}", "{1}"},
		{"{{{a}}}", "{1}", "{{1}}"},
		{"{x}", "error unknown placeholder {x}", "error unknown placeholder {x}"},
		{"{a", "error a brace stands alone", "{a"},
		{"a}", "error a brace stands alone", "a}"},
		{`{"k": "{a}"}`, `error unknown placeholder {"k": "{a}`, `{"k": "1"}`},
	} {
		check := func(what, got string, err error, want string) {
			t.Helper()
			if err != nil {
				got = "error " + err.Error()
			}
			if got != want && !(err != nil && strings.HasPrefix(got, want)) {
				t.Errorf("%s(%q) = %q, want %q", what, c.template, got, want)
			}
		}
		got, err := suite.Fill(c.template, known)
		check("Fill", got, err, c.want)
		got, err = suite.FillNames(c.template, known)
		check("FillNames", got, err, c.names)
	}
}

func TestFillCommand(t *testing.T) {
	t.Parallel()
	splice := func(item string) ([]string, bool, error) {
		if item == "{bad}" {
			return nil, false, errors.New("no such list")
		}
		return []string{"x", "{a}"}, item == "{list}", nil
	}
	got, err := suite.FillCommand([]string{"p", "{list}", "-{a}"}, splice, known)
	if want := []string{"p", "x", "{a}", "-1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for item, want := range map[string]string{"{bad}": `command[1] "{bad}": no such list`, "{c}": `command[1] "{c}": unknown placeholder {c}`} {
		if _, err := suite.FillCommand([]string{"p", item}, splice, known); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", item, err, want)
		}
	}
}

// FuzzFill: text whose braces are doubled comes out as it went in.
func FuzzFill(f *testing.F) {
	for _, seed := range []string{"", "{", "}}", "{a}", `{"k": [1, {}]}`} {
		f.Add(seed)
	}
	double := strings.NewReplacer("{", "{{", "}", "}}")
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := suite.Fill(double.Replace(text), known); err != nil || got != text {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		_, _ = suite.Fill(text, known)
		_, _ = suite.FillNames(text, known)
	})
}
