package flashinfer_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
)

func TestNamesThatAreNoPaths(t *testing.T) {
	t.Parallel()
	d := load(t, dataset).Definition("scale_n4")
	for _, name := range []string{"..", "a/b", "../x", `a\b`, "", "c:", "."} {
		other := *d
		other.OpType = name
		if path, err := flashinfer.TracePath(&other, "ann"); err == nil {
			t.Errorf("op_type %q has the traces %s", name, path)
		}
		if path, err := flashinfer.TracePath(d, name); err == nil {
			t.Errorf("author %q has the traces %s", name, path)
		}
	}
}

func FuzzDefinition(f *testing.F) {
	text, err := os.ReadFile(filepath.Join(dataset, "definitions", "scale", "scale_n4.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(`{"name":"d","op_type":"o","axes":{"":{"type":"const","value":0}},"inputs":{"a":{"shape":[""],"dtype":"bool","optional":true}},"outputs":{},"reference":"def run(a): 0"}`)
	f.Add(`{"name":"##[x]\u001b","axes":[],"axes":{"\n":1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := flashinfer.ParseDefinition("d.json", []byte(text))
		if err != nil {
			oneLineEach(t, err)
			return
		}
		written, err := flashinfer.EncodeDefinition(d)
		if err != nil {
			t.Fatal(err)
		}
		back, err := flashinfer.ParseDefinition("d.json", written)
		if err != nil || back.Hash() != d.Hash() {
			t.Errorf("%q comes back as %+v, %v", text, back, err)
		}
	})
}

func FuzzSolution(f *testing.F) {
	text, err := os.ReadFile(filepath.Join(dataset, "solutions", "ann", "scale", "scale_n4", "scale_n4_loop.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(`{"name":"a","spec":{"language":"Go","entry_point":"::","binding":null},"sources":[{"path":"a/../b"},{}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := flashinfer.ParseSolution("s.json", []byte(text))
		if err != nil {
			oneLineEach(t, err)
			return
		}
		if s.Hash() == "" {
			t.Errorf("%q has no hash: %+v", text, s)
		}
	})
}
