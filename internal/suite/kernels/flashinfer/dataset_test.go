package flashinfer_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite what the files in testdata/cases want")

const dataset = "testdata/dataset"

// headers reads real tensor files. The formats are those that the tests use.
type headers struct{}

type header struct {
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
	At    [2]int `json:"data_offsets"`
}

func (headers) read(path, key string) (h header, data []byte, err error) {
	data, err = os.ReadFile(path)
	if err != nil || len(data) < 8 {
		return h, nil, errors.Join(err, errors.New("no header"))
	}
	n := 8 + binary.LittleEndian.Uint64(data)
	var all map[string]header
	if err := json.Unmarshal(data[8:n], &all); err != nil {
		return h, nil, err
	}
	h, ok := all[key]
	if !ok {
		return h, nil, fmt.Errorf("no tensor %q", key)
	}
	return h, data[int(n)+h.At[0] : int(n)+h.At[1]], nil
}

func (h headers) Shape(path, key string) ([]int, tensor.DType, error) {
	head, _, err := h.read(path, key)
	return head.Shape, map[string]tensor.DType{"I32": tensor.Int32, "I64": tensor.Int64}[head.DType], err
}

func (h headers) Last(path, key string) (int64, error) {
	_, data, err := h.read(path, key)
	if err != nil {
		return 0, err
	}
	return int64(int32(binary.LittleEndian.Uint32(data[len(data)-4:]))), nil
}

// TestCases has a file for each way in which a dataset may be wrong: what is
// changed in testdata/dataset, and what Load and Lint say then.
func TestCases(t *testing.T) {
	t.Parallel()
	inputs, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	for _, input := range inputs {
		t.Run(strings.TrimSuffix(filepath.Base(input), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(input)
			if err != nil {
				t.Fatal(err)
			}
			root := copyDataset(t)
			want := &archive.Files[len(archive.Files)-1]
			for _, f := range archive.Files[:len(archive.Files)-1] {
				change(t, root, f)
			}
			got := said(root)
			if *update {
				want.Data = []byte(got)
				if err := os.WriteFile(input, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if string(want.Data) != got {
				t.Errorf("got\n%s\nwant\n%s", got, want.Data)
			}
		})
	}
}

func copyDataset(t testing.TB) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	if err := os.CopyFS(root, os.DirFS(dataset)); err != nil {
		t.Fatal(err)
	}
	return root
}

// change writes the file, or does what its name says before a colon: edit
// replaces the first occurrence of the text before " => " in each line.
func change(t *testing.T, root string, f txtar.File) {
	t.Helper()
	verb, name, special := strings.Cut(f.Name, ": ")
	if !special {
		name = f.Name
	}
	path := filepath.Join(root, filepath.FromSlash(name))
	content := string(f.Data)
	var err error
	switch verb {
	case "remove":
		err = os.RemoveAll(path)
	case "move":
		err = os.MkdirAll(filepath.Dir(filepath.Join(root, strings.TrimSpace(content))), 0o755)
		err = errors.Join(err, os.Rename(path, filepath.Join(root, strings.TrimSpace(content))))
	case "edit":
		before, readErr := os.ReadFile(path)
		text := string(before)
		for line := range strings.Lines(content) {
			from, to, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " => ")
			if !ok || !strings.Contains(text, from) {
				t.Fatalf("%s does not hold %q", name, from)
			}
			text = strings.Replace(text, from, to, 1)
		}
		err = errors.Join(readErr, os.WriteFile(path, []byte(text), 0o644))
	default:
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = os.WriteFile(path, []byte(strings.TrimSuffix(content, "(no line break)\n")), 0o644)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// said returns all messages about a dataset.
func said(root string) string {
	var b strings.Builder
	ds, err := flashinfer.Load(root)
	if err != nil {
		fmt.Fprintln(&b, "error:", strings.ReplaceAll(err.Error(), "\n", "\nerror: "))
	}
	if ds != nil {
		for _, w := range ds.Warnings {
			fmt.Fprintln(&b, "warning:", w)
		}
		for _, f := range flashinfer.Lint(ds, headers{}) {
			fmt.Fprintf(&b, "%s: %s\n", map[bool]string{false: "lint", true: "lint warning"}[f.Warning], f)
		}
	}
	return strings.ReplaceAll(filepath.ToSlash(b.String()), filepath.ToSlash(root), "ROOT")
}

func TestLoadKeepsOrderAndNames(t *testing.T) {
	t.Parallel()
	ds := load(t, dataset)
	d := ds.Definition("scale_n4")
	if d == nil || len(d.Axes) != 3 || d.Axes[0].Name != "rows" || d.Axes[2].Value != 4 || !d.Axes[2].Const {
		t.Fatalf("axes are %+v", d)
	}
	if d.Inputs[1].Name != "offsets" || !d.Inputs[2].Scalar || d.Inputs[0].Scalar || d.Outputs[0].DType != tensor.Float32 {
		t.Errorf("tensors are %+v and %+v", d.Inputs, d.Outputs)
	}
	if s := ds.Solution("scale_n4_loop"); s == nil || !s.DestinationPassing || s.Sources[1].Path != "src/scale.h" {
		t.Errorf("solution is %+v", s)
	}
	if s := ds.Solution("scale_n4_plain"); s == nil || s.DestinationPassing {
		t.Errorf("solution is %+v", s)
	}
	if w := ds.Workload("scale_n4", "w2"); w == nil || w.Place.Line != 2 || w.Workload.Axes["rows"] != 64 || w.Workload.Inputs["factor"].Value != 0.5 {
		t.Errorf("workload is %+v", w)
	}
	if len(ds.SolutionsOf("scale_n4")) != 2 || len(ds.WorkloadsOf("scale_n4")) != 2 || len(ds.Traces) != 5 {
		t.Errorf("the dataset is %+v", ds)
	}
}

func TestNoDataset(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{filepath.Join(t.TempDir(), "absent"), t.TempDir(), file} {
		ds, err := flashinfer.Load(root)
		if ds != nil || err == nil || !strings.Contains(err.Error(), "name the folder that holds definitions") {
			t.Errorf("Load(%s) = %v, %v; want an error that says what to name", root, ds, err)
		}
	}
}

// TestLinks: a link is followed below the root only.
func TestLinks(t *testing.T) {
	t.Parallel()
	root := copyDataset(t)
	definition := filepath.Join(root, "definitions", "scale", "scale_n4.json")
	target := filepath.Join(root, "real.json")
	if err := os.Rename(definition, target); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..", "..", "real.json"), definition); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
	if ds := load(t, root); ds.Definition("scale_n4") == nil {
		t.Error("a link below the root is not followed")
	}
	outside := filepath.Join(t.TempDir(), "x.json")
	if err := os.Rename(target, outside); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(definition); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, definition); err != nil {
		t.Fatal(err)
	}
	if _, err := flashinfer.Load(root); err == nil || !strings.Contains(err.Error(), "escapes") {
		t.Errorf("a link out of the root: %v, want an error", err)
	}
}

// TestManyProblems: one bad file does not hide the others, and there is an end.
func TestManyProblems(t *testing.T) {
	t.Parallel()
	root := copyDataset(t)
	bad := `{"a": 1` + strings.Repeat(`, "bad": 2`, 1000) + `}`
	for i := range 50 {
		if err := os.WriteFile(filepath.Join(root, "definitions", fmt.Sprintf("%02d.json", i)), []byte(bad), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ds, err := flashinfer.Load(root)
	var problems flashinfer.Problems
	if !errors.As(err, &problems) || len(problems) != 401 || ds == nil || len(ds.Definitions) != 1 {
		t.Errorf("got %d problems and %+v, want 401 and the good definition", len(problems), ds)
	}
	if !strings.Contains(err.Error(), "05.json: has ") {
		t.Errorf("the first problems hide those of the sixth file:\n%v", err)
	}
}

func BenchmarkLoad(b *testing.B) {
	root := copyDataset(b)
	definition, err := os.ReadFile(filepath.Join(dataset, "definitions", "scale", "scale_n4.json"))
	if err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		name := fmt.Sprintf("scale_%d", i)
		text := strings.Replace(string(definition), "scale_n4", name, 1)
		if err := os.WriteFile(filepath.Join(root, "definitions", "scale", name+".json"), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("1000 files", func(b *testing.B) {
		for b.Loop() {
			load(b, root)
		}
	})
	b.Run("reading them alone", func(b *testing.B) {
		for b.Loop() {
			files, _ := filepath.Glob(filepath.Join(root, "definitions", "scale", "*.json"))
			for _, f := range files {
				if _, err := os.ReadFile(f); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
