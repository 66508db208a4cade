package bench_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/accelgate/accelgate/internal/bench"
)

func TestCheckLabelAccepts(t *testing.T) {
	for _, label := range []string{"a", "7", "macos-mlx", "linux-cuda", "node_3.rack-7", "a--b", "a-", strings.Repeat("x", 63)} {
		if err := bench.CheckLabel(label); err != nil {
			t.Errorf("%q: %v, want it accepted", label, err)
		}
	}
}

func TestCheckLabelRefuses(t *testing.T) {
	for label, want := range map[string]string{
		"":                             "my-host",
		"-rf":                          "rf",
		".hidden":                      "hidden",
		"a..b":                         "a-b",
		"../../etc/passwd":             "etc-passwd",
		"a/b":                          "a-b",
		`a\b`:                          "a-b",
		"a b":                          "a-b",
		"a\nb":                         "a-b",
		"a\x00b":                       "a-b",
		"a.":                           "a",
		"main.lock":                    "main-lock",
		"Lab-A100":                     "lab-a100",
		"größe":                        "gr-e",
		"##[error]x":                   "error-x",
		"a\u009b31m":                   "a-31m",
		"日本":                           "my-host",
		strings.Repeat("x", 64):        strings.Repeat("x", 63),
		strings.Repeat("x-", 40):       strings.Repeat("x-", 31) + "x",
		strings.Repeat("\u202e", 9999): "my-host",
	} {
		err := bench.CheckLabel(label)
		if err == nil {
			t.Errorf("%q is accepted", label)
			continue
		}
		if strings.Contains(err.Error(), "##[") || strings.ContainsFunc(err.Error(), func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q: the error is not safe to print: %q", label, err)
		}
		if !strings.HasSuffix(err.Error(), "write "+want) || len(err.Error()) > 800 {
			t.Errorf("%q: error %q, want it to propose %q", label, err, want)
		}
	}
}

// What the message tells to type must work, whatever was typed before.
func FuzzCheckLabel(f *testing.F) {
	for _, seed := range []string{"", "ok", "Bad Label", "..", "a.lock", "İ\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, label string) {
		err := bench.CheckLabel(label)
		if err == nil {
			if strings.ContainsAny(label, "/\\ \n\x00") || strings.Contains(label, "..") || strings.HasPrefix(label, "-") {
				t.Errorf("%q is accepted", label)
			}
			return
		}
		words := strings.Fields(err.Error())
		proposal := words[len(words)-1]
		if err := bench.CheckLabel(proposal); err != nil {
			t.Errorf("%q: proposes %q: %v", label, proposal, err)
		}
	})
}
