package workers_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/accelgate/accelgate/internal/tensor/safetensors"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestProtocol plays the conversations in testdata/protocol with each worker:
// "> " is a request without its number, "< " what the reply must have. In a
// reply, "*" stands for anything and a text that ends in * for what begins so;
// fields that are not named may have any value. Below "same" stand pairs of
// saved tensors that must be equal: two files, then a name in each.
func TestProtocol(t *testing.T) {
	t.Parallel()
	conversations(t, func(name, kind string) bool { return kind != "torch" || name == "hello" || name == "files" })
}

// TestProtocolThorough is what takes a process of torch long.
func TestProtocolThorough(t *testing.T) {
	testtier.Thorough(t)
	conversations(t, func(name, kind string) bool { return kind == "torch" && name != "hello" && name != "files" })
}

func conversations(t *testing.T, wanted func(name, kind string) bool) {
	files, err := filepath.Glob("testdata/protocol/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		for _, kind := range kinds(string(archive.Comment)) {
			if !wanted(name, kind) {
				continue
			}
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				play(t, archive, kind)
			})
		}
	}
}

func kinds(comment string) []string {
	for line := range strings.Lines(comment) {
		if list, ok := strings.CutPrefix(line, "workers: "); ok {
			return strings.Fields(list)
		}
	}
	return []string{"torch", "numpy", "c"}
}

func play(t *testing.T, archive *txtar.Archive, kind string) {
	dir := t.TempDir()
	sections := map[string]string{}
	for _, f := range archive.Files {
		sections[f.Name] = string(f.Data)
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	replace := strings.NewReplacer("$DIR", dir, "$OUT", `[{"name":"y","dtype":"float32"}]`,
		"$IN", `[{"name":"x","dtype":"float32"},{"name":"s","dtype":"float32","scalar":true}]`)
	converse(t, start(t, kind), replace.Replace(sections["requests"]))
	for line := range strings.Lines(sections["same"]) {
		f := strings.Fields(line)
		a, b := saved(t, filepath.Join(dir, f[0]), f[2]), saved(t, filepath.Join(dir, f[1]), f[3])
		if !bytes.Equal(a, b) {
			t.Errorf("%s: got %x and %x, want the same bytes", strings.TrimSpace(line), a, b)
		}
	}
}

func converse(t *testing.T, p *process, lines string) {
	var request string
	var reply map[string]any
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "> "):
			request, reply = line[2:], p.ask(line[2:])
		case strings.HasPrefix(line, "< "):
			var want any
			if err := json.Unmarshal([]byte(line[2:]), &want); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if !matches(reply, want) {
				t.Errorf("%s\n got %v\nwant %s", request, reply, line[2:])
			}
		case line != "":
			t.Fatalf("%q is neither a request nor a reply", line)
		}
	}
}

func matches(got, want any) bool {
	switch want := want.(type) {
	case string:
		prefix, open := strings.CutSuffix(want, "*")
		if text, ok := got.(string); ok && open {
			return strings.HasPrefix(text, prefix)
		}
		return want == "*" && got != nil || got == want
	case map[string]any:
		m, ok := got.(map[string]any)
		for key, value := range want {
			ok = ok && matches(m[key], value)
		}
		return ok
	case []any:
		list, ok := got.([]any)
		ok = ok && len(list) == len(want)
		for i := range want {
			ok = ok && matches(list[i], want[i])
		}
		return ok
	}
	return reflect.DeepEqual(got, want)
}

func saved(t testing.TB, path, name string) []byte {
	t.Helper()
	file, err := safetensors.Read(path, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	tensor, err := file.Tensor(name)
	if err != nil {
		t.Fatal(err)
	}
	return tensor.Data
}

func TestEndOfInput(t *testing.T) {
	t.Parallel()
	endOfInput(t, "numpy", "c")
}

func TestEndOfInputThorough(t *testing.T) {
	testtier.Thorough(t)
	endOfInput(t, "torch")
}

func endOfInput(t *testing.T, kinds ...string) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := start(t, kind)
			p.must(`{"op":"hello","proto":"fib-worker/1"}`)
			_ = p.in.Close()
			for p.out.Scan() {
				if p.out.Text() != `{"event":"alive"}` {
					t.Errorf("the worker wrote %q", p.out.Text())
				}
			}
			if err := p.cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNoRequestEndsAWorker(t *testing.T) {
	t.Parallel()
	noRequestEnds(t, "numpy", "c")
}

func TestNoRequestEndsAWorkerThorough(t *testing.T) {
	testtier.Thorough(t)
	noRequestEnds(t, "torch")
}

func noRequestEnds(t *testing.T, kinds ...string) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p := start(t, kind)
			for _, bad := range []string{
				`{"op":"run","id":"x"}`, `{"op":"time","id":"","slots":[],"order":[0],"warmup":0,"iters":1}`, `{"op":7}`, `{"op":"tensor","name":"x"}`,
				`{"op":"tensor","name":"x","dtype":"float32","shape":"all"}`, `{"op":"build"}`,
				`{"op":"time","id":"","slots":[{"args":[],"out":[]}],"order":[],"warmup":0,"iters":1}`,
				`{"op":"time","id":"","slots":[{"args":[],"out":[]}],"order":[9],"warmup":0,"iters":1}`,
			} {
				if reply := p.ask(bad); reply == nil || reply["ok"] != false {
					t.Errorf("%s: got %v, want an error", bad, reply)
				}
			}
			p.must(`{"op":"check"}`)
		})
	}
}
