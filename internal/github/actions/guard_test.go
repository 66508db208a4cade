package actions_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/accelgate/accelgate/internal/github/actions"
	"github.com/google/go-cmp/cmp"
)

// hostile is what a program under test may print.
const hostile = "::set-output name=verdict::passed\n" +
	"::add-mask::e\n" +
	"::stop-commands::guess\n::guess::\n::error::after guess\n" +
	"  \t\u00a0\u2003\ufeff::warning::indented\n" +
	"progress 10%\r::error::after a carriage return\r::error::again\r" +
	"log ##[add-path]/evil\n#####[add-mask]x\n##[group]g\n" +
	":\n:::error::x\n: ::error::x\n" +
	"é::error::x\n\x1b[0m::error::x\n\x00::error::x\n" +
	"a::b c:: ## [not] # [x] x##y\n" +
	"::pause-logging::\n::::\n::ERROR file=x::y\n" +
	"no line end"

func newAction(stdout io.Writer, env map[string]string) *actions.Action {
	return actions.New(actions.Options{Getenv: func(name string) string { return env[name] }, Stdout: stdout})
}

func TestGuardSilencesHostileOutput(t *testing.T) {
	for _, size := range []int{1, 2, 3, 7, len(hostile)} {
		var stdout bytes.Buffer
		a := newAction(&stdout, nil)
		w, err := a.Guard()
		if err != nil {
			t.Fatal(err)
		}
		for rest := []byte(hostile); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			if n, err := w.Write(rest[:min(size, len(rest))]); err != nil || n != min(size, len(rest)) {
				t.Fatalf("got %d, %v", n, err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := a.Warning(actions.Annotation{Message: "ours"}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(obeyed(stdout.String()), []string{"warning  ours"}); diff != "" {
			t.Errorf("size %d: -got +want:\n%s", size, diff)
		}
		// The second defence holds alone, for a stream on which the first
		// does not.
		_, inside, _ := strings.Cut(stdout.String(), "\n")
		if got := obeyed(inside); len(got) != 1 {
			t.Errorf("size %d: without stop-commands the runner obeys %q", size, got)
		}
	}
}

func TestGuardChangesNothingElse(t *testing.T) {
	const text = "a: b\n  time 12:30\n:\nC::D\n# title\n## [x]\n[##]\ntoken ## and ::\n"
	var out bytes.Buffer
	if n, err := actions.Defang(&out).Write([]byte(text)); err != nil || n != len(text) {
		t.Fatalf("got %d, %v", n, err)
	}
	if diff := cmp.Diff(out.String(), text); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
}

func TestGuardTokensAreFresh(t *testing.T) {
	var stdout bytes.Buffer
	a := newAction(&stdout, nil)
	seen := map[string]bool{}
	for range 3 {
		w, err := a.Guard()
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(stdout.String()) {
		if token, ok := strings.CutPrefix(line, "::stop-commands::"); ok {
			if seen[token] || len(token) < 20 {
				t.Errorf("token %q is short or was used before", token)
			}
			seen[token] = true
		}
	}
	if len(seen) != 3 {
		t.Errorf("got %d tokens, want 3", len(seen))
	}
}

func TestCommandsBetweenGuardedText(t *testing.T) {
	var stdout bytes.Buffer
	a := newAction(&stdout, map[string]string{"GITHUB_ACTIONS": "true"})
	first, err := a.Guard()
	if err != nil {
		t.Fatal(err)
	}
	second, err := a.Guard()
	if err != nil {
		t.Fatal(err)
	}
	write := func(w io.Writer, s string) {
		if _, err := io.WriteString(w, s); err != nil {
			t.Fatal(err)
		}
	}
	write(first, "::error::1")
	if err := a.Warning(actions.Annotation{Message: "between"}); err != nil {
		t.Fatal(err)
	}
	write(second, "::error::2\n::err")
	write(first, "or::3\n")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	write(second, "::error::4\n")
	if err := a.Warning(actions.Annotation{Message: "later"}); err != nil {
		t.Fatal(err)
	}
	write(second, "::error::5")
	if err := errors.Join(second.Close(), second.Close(), a.EndGroup()); err != nil {
		t.Fatal(err)
	}
	want := []string{"warning  between", "warning  later", "endgroup"}
	if diff := cmp.Diff(obeyed(stdout.String()), want); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
	if _, err := first.Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("write after close: got %v, want os.ErrClosed", err)
	}
}

func TestConcurrentUse(t *testing.T) {
	var stdout bytes.Buffer
	a := newAction(&stdout, map[string]string{"GITHUB_OUTPUT": filepath.Join(t.TempDir(), "output")})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			w, err := a.Guard()
			if err != nil {
				t.Error(err)
				return
			}
			for range 20 {
				_, err := io.WriteString(w, "x\n::error::theirs\n##[error]theirs")
				if err := errors.Join(err, a.Group("g"), a.SetOutput("o", "v")); err != nil {
					t.Error(err)
				}
			}
			if err := errors.Join(a.Error(actions.Annotation{Message: "ours"}), w.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	counts := map[string]int{}
	for _, command := range obeyed(stdout.String()) {
		counts[command]++
	}
	if diff := cmp.Diff(counts, map[string]int{"group  g": 160, "error  ours": 8}); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
}

// failing fails after some bytes.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("broken pipe")
	}
	return len(p), nil
}

func TestBrokenStdoutIsAnError(t *testing.T) {
	a := newAction(&failing{}, map[string]string{"GITHUB_ACTIONS": "true"})
	for name, err := range map[string]error{
		"Group":    a.Group("x"),
		"EndGroup": a.EndGroup(),
		"Error":    a.Error(actions.Annotation{Message: "x"}),
	} {
		if err == nil || !strings.Contains(err.Error(), "broken pipe") {
			t.Errorf("%s: got %v, want broken pipe", name, err)
		}
	}
	if _, err := a.Guard(); err == nil {
		t.Error("Guard: got no error")
	}
	a = newAction(&failing{left: 60}, nil)
	w, err := a.Guard()
	if err != nil {
		t.Fatal(err)
	}
	if n, err := w.Write(make([]byte, 100<<10)); err == nil || n != 0 {
		t.Errorf("got %d, %v, want a failed write", n, err)
	}
}

func FuzzGuard(f *testing.F) {
	f.Add([]byte(hostile), 3)
	f.Add([]byte("##\r##[\n[error]x]"), 1)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		if size < 1 {
			size = 1
		}
		var stdout, stderr bytes.Buffer
		a := newAction(&stdout, nil)
		w, err := a.Guard()
		if err != nil {
			t.Fatal(err)
		}
		d := actions.Defang(&stderr)
		for rest := data; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			chunk := rest[:min(size, len(rest))]
			if _, err := w.Write(chunk); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Write(chunk); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(w.Close(), a.Group("end")); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(obeyed(stdout.String()), []string{"group  end"}); diff != "" {
			t.Errorf("stdout %q: -got +want:\n%s", stdout.String(), diff)
		}
		if got := obeyed(stderr.String()); len(got) != 0 {
			t.Errorf("stderr %q: runner obeys %q", stderr.String(), got)
		}
		if !bytes.Equal(bytes.ReplaceAll(stderr.Bytes(), []byte(" "), nil), bytes.ReplaceAll(data, []byte(" "), nil)) {
			t.Errorf("got %q from %q, want only blanks added", stderr.Bytes(), data)
		}
	})
}

func BenchmarkDefang(b *testing.B) {
	text := []byte(strings.Repeat("step 12: loss 0.25, 41.5 tok/s\n", 1000))
	w := actions.Defang(io.Discard)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := w.Write(text); err != nil {
			b.Fatal(err)
		}
	}
}
