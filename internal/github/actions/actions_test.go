package actions_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/github/actions"
	"github.com/google/go-cmp/cmp"
)

func TestInputs(t *testing.T) {
	a := newAction(&bytes.Buffer{}, map[string]string{
		"INPUT_HOST-LABEL": " linux-cuda \n", "INPUT_TWO_WORDS": "x", "INPUT_ON": "True", "INPUT_OFF": "false", "INPUT_JUNK": "yes\n::error::",
	})
	for name, want := range map[string]string{"host-label": "linux-cuda", "two words": "x", "absent": ""} {
		if got := a.Input(name); got != want {
			t.Errorf("Input(%q): got %q, want %q", name, got, want)
		}
	}
	for _, tt := range []struct {
		name        string
		unset, want bool
	}{{"on", false, true}, {"off", true, false}, {"absent", true, true}, {"absent", false, false}} {
		if got, err := a.Bool(tt.name, tt.unset); got != tt.want || err != nil {
			t.Errorf("Bool(%q, %v): got %v, %v, want %v", tt.name, tt.unset, got, err, tt.want)
		}
	}
	_, err := a.Bool("junk", true)
	if want := `input "junk" is "yes\n::error::"; write true or false`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestSetOutput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "output")
	a := newAction(&bytes.Buffer{}, map[string]string{"GITHUB_OUTPUT": file})
	want := map[string]string{
		"verdict":     "passed",
		"empty":       "",
		"lines":       "a\r\nb\n\nc\n",
		"hostile":     "x\n_GitHubActionsFileCommandDelimeter_\nverdict<<EOF\nfailed\nEOF\nverdict=failed",
		"comment-url": "https://example.com/?a=b<<c",
	}
	for name, value := range want {
		if err := a.SetOutput(name, value); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(readFile(t, string(data)), want); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
}

func TestSetOutputRefuses(t *testing.T) {
	dir := t.TempDir()
	a := newAction(&bytes.Buffer{}, map[string]string{"GITHUB_OUTPUT": filepath.Join(dir, "output")})
	for _, name := range []string{"", "a=b", "a<<b", "a\nb", "é", strings.Repeat("a", 101)} {
		if err := a.SetOutput(name, "x"); err == nil || !strings.Contains(err.Error(), "; use letters") {
			t.Errorf("name %q: got %v, want an error with a next step", name, err)
		}
	}
	if err := a.SetOutput("big", strings.Repeat("x", 1<<20+1)); err == nil {
		t.Error("big value: got no error")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("got %v written, want nothing", entries)
	}
	for name, env := range map[string]map[string]string{
		"unset":  nil,
		"folder": {"GITHUB_OUTPUT": dir},
		"lost":   {"GITHUB_OUTPUT": filepath.Join(dir, "no", "such", "folder")},
	} {
		if err := newAction(&bytes.Buffer{}, env).SetOutput("a", "b"); err == nil || !strings.Contains(err.Error(), "; ") {
			t.Errorf("%s: got %v, want an error with a next step", name, err)
		}
	}
}

func TestSummary(t *testing.T) {
	file := filepath.Join(t.TempDir(), "summary")
	a := newAction(&bytes.Buffer{}, map[string]string{"GITHUB_STEP_SUMMARY": file})
	for _, md := range []string{"# One\n", "two\xff"} {
		if ok, err := a.Summary(md); !ok || err != nil {
			t.Fatalf("got %v, %v", ok, err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := "# One\n\ntwo\ufffd\n"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSummaryIsCutAtALine(t *testing.T) {
	const limit = 1 << 20
	line := strings.Repeat("é", 40) + "\n"
	lines := 2 * limit / len(line)
	for name, before := range map[string]int{"empty file": 0, "half full": limit / 2} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "summary")
			if err := os.WriteFile(file, bytes.Repeat([]byte("x"), before), 0o600); err != nil {
				t.Fatal(err)
			}
			a := newAction(&bytes.Buffer{}, map[string]string{"GITHUB_STEP_SUMMARY": file})
			if ok, err := a.Summary(strings.Repeat(line, lines)); !ok || err != nil {
				t.Fatalf("got %v, %v", ok, err)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) > limit || len(data) < limit-2*len(line) {
				t.Errorf("got %d bytes, want just under %d", len(data), limit)
			}
			text := strings.TrimSuffix(string(data[before:]), "\n")
			kept := strings.Count(text, line)
			note, rest, _ := strings.Cut(text, "\n\n")
			if want := fmt.Sprintf("the last %d of %d lines", lines+1-kept, lines+1); !strings.Contains(note, want) {
				t.Errorf("got note %q, want %q", note, want)
			}
			if rest != strings.Repeat(line, kept) {
				t.Errorf("got a line cut in two at the end: %q", rest[len(rest)-100:])
			}
			if ok, err := a.Summary(strings.Repeat(line, 5)); ok || err == nil {
				t.Errorf("full file: got %v, %v, want an error", ok, err)
			}
		})
	}
}

func TestSummaryWithoutAPlace(t *testing.T) {
	if ok, err := newAction(&bytes.Buffer{}, nil).Summary("x"); ok || err != nil {
		t.Errorf("unset: got %v, %v, want false and no error", ok, err)
	}
	lost := filepath.Join(t.TempDir(), "no", "summary")
	if ok, err := newAction(&bytes.Buffer{}, map[string]string{"GITHUB_STEP_SUMMARY": lost}).Summary("x"); ok || err == nil {
		t.Errorf("lost: got %v, %v, want an error", ok, err)
	}
}

func TestAnnotationsAreEscaped(t *testing.T) {
	var stdout bytes.Buffer
	a := newAction(&stdout, nil)
	for _, n := range []actions.Annotation{
		{Message: "plain"},
		{Title: "100%,\n::error::x\u202e", Message: "50%\r\n::warning::y\n##[add-mask]z\x1b[0m"},
	} {
		if err := errors.Join(a.Error(n), a.Warning(n)); err != nil {
			t.Fatal(err)
		}
	}
	const hostile = " title=100%25%2C %3A%3Aerror%3A%3Ax::50%25%0A::warning::y%0A## [add-mask]z [0m\n"
	want := "::error::plain\n::warning::plain\n::error" + hostile + "::warning" + hostile
	if diff := cmp.Diff(stdout.String(), want); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
	if got := obeyed(stdout.String()); len(got) != 4 {
		t.Errorf("runner obeys %q, want 4 annotations", got)
	}
}

// TestAnnotationsAreIssuedAtOnce, as many as there are.
func TestAnnotationsAreIssuedAtOnce(t *testing.T) {
	var stdout bytes.Buffer
	a := newAction(&stdout, nil)
	for i := range 12 {
		if err := a.Error(actions.Annotation{Message: "x"}); err != nil {
			t.Fatal(err)
		}
		if got := len(obeyed(stdout.String())); got != i+1 {
			t.Fatalf("got %d annotations after %d", got, i+1)
		}
	}
}

func TestLongAnnotationsAreCut(t *testing.T) {
	var stdout bytes.Buffer
	a := newAction(&stdout, nil)
	if err := a.Warning(actions.Annotation{Title: strings.Repeat("é", 1000), Message: strings.Repeat("ü", 100_000)}); err != nil {
		t.Fatal(err)
	}
	if got := stdout.Len(); got > 4096+2*200+50 || strings.Contains(stdout.String(), "\ufffd") {
		t.Errorf("got %d bytes, want a cut between characters", got)
	}
}

func TestGroupTitleStaysOnItsLine(t *testing.T) {
	var stdout bytes.Buffer
	a := newAction(&stdout, nil)
	if err := a.Group("cell\n::error::x"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(obeyed(stdout.String()), []string{"group  cell ::error::x"}); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
}
