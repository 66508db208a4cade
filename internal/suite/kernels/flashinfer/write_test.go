package flashinfer_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
)

// TestWriteDataset writes what was loaded to another root and loads it again.
func TestWriteDataset(t *testing.T) {
	t.Parallel()
	ds, root := load(t, dataset), t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range ds.Definitions {
		must(flashinfer.WriteDefinition(root, d))
		var workloads []flashinfer.Workload
		for _, w := range ds.WorkloadsOf(d.Name) {
			workloads = append(workloads, w.Workload)
		}
		must(flashinfer.WriteWorkloads(root, d, workloads))
		for _, s := range ds.SolutionsOf(d.Name) {
			must(flashinfer.WriteSolution(root, d, s))
		}
	}
	for _, tr := range ds.Traces {
		path, err := flashinfer.TracePath(ds.Definition(tr.Definition), ds.Solution(tr.Solution).Author)
		must(err)
		_, err = flashinfer.AppendTrace(root, path, tr)
		must(err)
	}
	back := load(t, root)
	for _, f := range flashinfer.Lint(back, nil) {
		if f.Rule != "blob" {
			t.Error(f)
		}
	}
	for _, d := range back.Definitions {
		d.Place = ds.Definition(d.Name).Place
	}
	for i, s := range back.Solutions {
		s.Place = ds.Solutions[i].Place
	}
	for i, w := range back.Workloads {
		w.Place = ds.Workloads[i].Place
	}
	for i, tr := range back.Traces {
		tr.Place = ds.Traces[i].Place
	}
	if !reflect.DeepEqual(back.Definitions, ds.Definitions) || !reflect.DeepEqual(back.Solutions, ds.Solutions) ||
		!reflect.DeepEqual(back.Workloads, ds.Workloads) || !reflect.DeepEqual(back.Traces, ds.Traces) {
		t.Errorf("got\n%+v\nwant\n%+v", back, ds)
	}
}

func TestNamesThatAreNoPaths(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	d := load(t, dataset).Definition("scale_n4")
	for _, name := range []string{"..", "a/b", "../x", `a\b`, "", "c:", "."} {
		other := *d
		other.OpType = name
		if err := flashinfer.WriteDefinition(root, &other); err == nil {
			t.Errorf("op_type %q is written", name)
		}
		if path, err := flashinfer.TracePath(d, name); err == nil {
			t.Errorf("author %q has the traces %s", name, path)
		}
	}
	if entries, _ := os.ReadDir(root); len(entries) > 0 {
		t.Errorf("%v was written", entries)
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
		written, err := flashinfer.EncodeSolution(s)
		if err != nil {
			t.Fatal(err)
		}
		back, err := flashinfer.ParseSolution("s.json", written)
		if err != nil || back.Hash() != s.Hash() || back.UpstreamHash() != s.UpstreamHash() {
			t.Errorf("%q comes back as %+v, %v", text, back, err)
		}
	})
}
