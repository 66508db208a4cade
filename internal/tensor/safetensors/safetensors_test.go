package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

var dtypes = []tensor.DType{
	tensor.Float64, tensor.Float32, tensor.F16, tensor.BF16, tensor.Float8E4M3FN, tensor.Float8E5M2,
	tensor.Int64, tensor.Int32, tensor.Int16, tensor.Int8, tensor.Uint8, tensor.Bool,
}

// file puts a header and so many bytes of data together, with a length that is right.
func file(header string, size int) []byte {
	data := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(data, header...), make([]byte, size)...)
}

// random makes tensors of any format and shape, of no elements and no axes too.
func random(r *rand.Rand) []safetensors.Named {
	var all []safetensors.Named
	for i := range r.IntN(12) {
		x := tensor.Tensor{DType: dtypes[r.IntN(len(dtypes))], Shape: []int{}}
		for range r.IntN(4) {
			x.Shape = append(x.Shape, r.IntN(5))
		}
		x.Data = make([]byte, x.DType.Size(x.Elements()))
		for j := range x.Data {
			x.Data[j] = byte(r.Uint32())
		}
		all = append(all, safetensors.Named{Name: fmt.Sprintf("%c\"\\\n<é>%d", 'a'+r.IntN(26), i), Tensor: x})
	}
	return all
}

func encode(t testing.TB, tensors []safetensors.Named) []byte {
	t.Helper()
	var w bytes.Buffer
	if err := safetensors.Encode(&w, tensors); err != nil {
		t.Fatal(err)
	}
	return w.Bytes()
}

// contents returns what is in a file, as what Encode takes.
func contents(t testing.TB, f *safetensors.File) []safetensors.Named {
	t.Helper()
	var all []safetensors.Named
	for _, name := range f.Names() {
		x, err := f.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, safetensors.Named{Name: name, Tensor: x})
	}
	return all
}

func equal(a, b safetensors.Named) bool {
	return a.Name == b.Name && a.Tensor.DType == b.Tensor.DType && slices.Equal(a.Tensor.Shape, b.Tensor.Shape) && bytes.Equal(a.Tensor.Data, b.Tensor.Data)
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	path := filepath.Join(t.TempDir(), "new", "x.safetensors")
	for range 200 {
		want := random(r)
		if err := safetensors.Write(path, want); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(want, func(a, b safetensors.Named) int { return strings.Compare(a.Name, b.Name) })
		for name, open := range map[string]func() (*safetensors.File, error){
			"Open": func() (*safetensors.File, error) { return safetensors.Open(path) },
			"Read": func() (*safetensors.File, error) { return safetensors.Read(path, 1<<20) },
		} {
			f, err := open()
			if err != nil {
				t.Fatal(err)
			}
			if got := contents(t, f); !slices.EqualFunc(got, want, equal) {
				t.Fatalf("%s: got %v, want %v", name, got, want)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestFilesAreDeterministic: whatever the order, the bytes are the same, and
// each tensor's data is aligned for its format.
func TestFilesAreDeterministic(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		tensors := random(r)
		data := encode(t, tensors)
		r.Shuffle(len(tensors), func(i, j int) { tensors[i], tensors[j] = tensors[j], tensors[i] })
		if !bytes.Equal(data, encode(t, tensors)) {
			t.Fatal("another order gives another file")
		}
		header := binary.LittleEndian.Uint64(data)
		f, err := safetensors.Parse(data)
		if err != nil || header%8 != 0 {
			t.Fatalf("header of %d bytes: %v", header, err)
		}
		for _, x := range contents(t, f) {
			if len(x.Tensor.Data) == 0 {
				continue
			}
			for at := range len(data) {
				if &data[at] == &x.Tensor.Data[0] && at%(x.Tensor.DType.Bits()/8) != 0 {
					t.Errorf("%s begins at %d", x.Tensor.DType, at)
				}
			}
		}
	}
}

func TestFourBitsTravelAsBytes(t *testing.T) {
	t.Parallel()
	x := tensor.Tensor{DType: tensor.Float4E2M1, Shape: []int{2, 4}, Data: []byte{1, 2, 3, 4}}
	f, err := safetensors.Parse(encode(t, []safetensors.Named{{Name: "x", Tensor: x}}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Tensor("x")
	if err != nil || got.DType != tensor.Uint8 || !slices.Equal(got.Shape, []int{2, 2}) {
		t.Fatalf("read as %v, %v", got, err)
	}
	if back, err := got.AsFloat4(); err != nil || !equal(safetensors.Named{Tensor: back}, safetensors.Named{Tensor: x}) {
		t.Errorf("comes back as %v, %v", back, err)
	}
	for _, shape := range [][]int{{2, 3}, nil} {
		odd := tensor.Tensor{DType: tensor.Float4E2M1, Shape: shape}
		odd.Data = make([]byte, odd.DType.Size(odd.Elements()))
		if err := safetensors.Encode(new(bytes.Buffer), []safetensors.Named{{Name: "x", Tensor: odd}}); err == nil {
			t.Errorf("%v is written", shape)
		}
	}
	named, err := safetensors.Parse(file(`{"x":{"dtype":"F4","shape":[2,4],"data_offsets":[0,4]}}`, 4))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := named.Tensor("x"); err != nil || got.DType != tensor.Float4E2M1 || got.Elements() != 8 {
		t.Errorf("F4 is read as %v, %v", got, err)
	}
}

// TestParse has headers of the world outside; refusal is a part of the message.
func TestParse(t *testing.T) {
	t.Parallel()
	const x = `"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}`
	for _, c := range []struct {
		name, header string
		data         int
		refusal      string
	}{
		{"one", `{` + x + `}`, 4, ""},
		{"none", `{}`, 0, ""},
		{"spaces", ` {` + x + `}`, 4, "not a JSON object"},
		{"padded", "{" + x + "}     ", 4, ""},
		{"padded with zeros", "{" + x + "}\x00\x00", 4, "not a JSON object"},
		{"metadata", `{"__metadata__":{"format":"pt"},` + x + `}`, 4, ""},
		{"metadata of numbers", `{"__metadata__":{"format":1},` + x + `}`, 4, "no text"},
		{"metadata twice", `{"__metadata__":{"a":"","a":""}}`, 0, "occurs twice"},
		{"no elements", `{` + x + `,"y":{"dtype":"F32","shape":[0,9],"data_offsets":[4,4]}}`, 4, ""},
		{"no elements in front", `{` + x + `,"y":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}`, 4, ""},
		{"no axes", `{"x":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}`, 4, ""},
		{"unknown format", `{"y":{"dtype":"U64","shape":[1],"data_offsets":[4,12]},` + x + `}`, 12, ""},
		{"empty", ``, 0, "not a JSON object"},
		{"array", `[1]`, 0, "not a JSON object"},
		{"cut", `{"x":{"dtype":"U8","shape":[4],"data_of`, 4, "not a JSON object"},
		{"two objects", `{` + x + `}{}`, 4, "not a JSON object"},
		{"not UTF-8", "{\"\xff\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", 4, "UTF-8"},
		{"deep", strings.Repeat(`{"x":`, 50_000) + "1" + strings.Repeat(`}`, 50_000), 0, "not a JSON object"},
		{"name twice", `{` + x + `,` + x + `}`, 4, `"x" occurs twice`},
		{"name twice, escaped", `{` + x + `,` + strings.Replace(x, "x", `\u0078`, 1) + `}`, 4, `"x" occurs twice`},
		{"key twice", `{"x":{"dtype":"U8","shape":[4],"shape":[2],"data_offsets":[0,4]}}`, 4, `"shape" occurs twice`},
		{"other case", `{"x":{"DType":"U8","shape":[4],"data_offsets":[0,4]}}`, 4, `"DType": no part`},
		{"unknown key", `{"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"stride":[1]}}`, 4, "no part"},
		{"no format", `{"x":{"shape":[4],"data_offsets":[0,4]}}`, 4, "is missing"},
		{"no shape", `{"x":{"dtype":"U8","data_offsets":[0,4]}}`, 4, "is missing"},
		{"null shape", `{"x":{"dtype":"U8","shape":null,"data_offsets":[0,4]}}`, 4, "no list of sizes"},
		{"one offset", `{"x":{"dtype":"U8","shape":[4],"data_offsets":[0]}}`, 4, "is missing"},
		{"three offsets", `{"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4,4]}}`, 4, "is missing"},
		{"no object", `{"x":[]}`, 0, "not a JSON object"},
		{"format of another type", `{"x":{"dtype":8,"shape":[4],"data_offsets":[0,4]}}`, 4, "no text"},
		{"negative axis", `{"x":{"dtype":"U8","shape":[-4],"data_offsets":[0,4]}}`, 4, "no list of sizes"},
		{"fraction", `{"x":{"dtype":"U8","shape":[4.0],"data_offsets":[0,4]}}`, 4, "no list of sizes"},
		{"exponent", `{"x":{"dtype":"U8","shape":[4e0],"data_offsets":[0,4]}}`, 4, "no list of sizes"},
		{"text", `{"x":{"dtype":"U8","shape":["4"],"data_offsets":[0,4]}}`, 4, "no list of sizes"},
		{"nested", `{"x":{"dtype":"U8","shape":[[4]],"data_offsets":[0,4]}}`, 4, "no list of sizes"},
		{"large axis", `{"x":{"dtype":"U8","shape":[18446744073709551620],"data_offsets":[0,4]}}`, 4, "no list of sizes"},
		{"product overflows", `{"x":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, 0, "too many elements"},
		{"shape too large", `{"x":{"dtype":"U8","shape":[5],"data_offsets":[0,4]}}`, 4, "4 bytes of data, not 5"},
		{"shape too small", `{"x":{"dtype":"I16","shape":[1],"data_offsets":[0,4]}}`, 4, "4 bytes of data, not 2"},
		{"beyond the end", `{` + x + `}`, 3, "within 3 bytes"},
		{"far beyond", `{"x":{"dtype":"U8","shape":[4],"data_offsets":[0,9223372036854775807]}}`, 4, "within 4 bytes"},
		{"backwards", `{"x":{"dtype":"U8","shape":[4],"data_offsets":[4,0]}}`, 4, "leave no gaps"},
		{"gap in front", `{"x":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}}`, 8, "leave no gaps"},
		{"gap", `{` + x + `,"y":{"dtype":"U8","shape":[4],"data_offsets":[5,9]}}`, 9, "leave no gaps"},
		{"overlap", `{` + x + `,"y":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}}`, 7, "overlap nothing"},
		{"same data", `{` + x + `,` + strings.Replace(x, "x", "y", 1) + `}`, 4, "overlap nothing"},
		{"rest", `{` + x + `}`, 5, "1 bytes of data belong to no tensor"},
		{"long", `{` + x + strings.Repeat(" ", safetensors.MaxHeader) + `}`, 4, "at most 1048576 are read"},
	} {
		f, err := safetensors.Parse(file(c.header, c.data))
		switch {
		case err == nil && c.refusal != "":
			t.Errorf("%s: accepted, with %q", c.name, f.Names())
		case err != nil && (c.refusal == "" || !strings.Contains(err.Error(), c.refusal) || !strings.Contains(err.Error(), ": ") || len(err.Error()) > 400):
			t.Errorf("%s: %v, want %q and what to do", c.name, err, c.refusal)
		}
	}
	for _, data := range [][]byte{nil, {1, 0, 0}, {2, 0, 0, 0, 0, 0, 0, 0, '{'}, bytes.Repeat([]byte{255}, 9)} {
		if _, err := safetensors.Parse(data); err == nil {
			t.Errorf("%q is accepted", data)
		}
	}
}

func TestTensorsThatAreNotThere(t *testing.T) {
	t.Parallel()
	f, err := safetensors.Parse(file(`{"__metadata__":{"k":"v"},"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"y":{"dtype":"C64","shape":[1],"data_offsets":[4,12]}}`, 12))
	if err != nil || !slices.Equal(f.Names(), []string{"x", "y"}) {
		t.Fatalf("%v, %v", f, err)
	}
	check := func(name, want string) {
		t.Helper()
		if x, err := f.Tensor(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is %v, %v, want %q", name, x, err, want)
		}
	}
	check("z", `the file has ["x" "y"]`)
	check("y", "C64")
	if x, err := f.Tensor("x"); err != nil || cap(x.Data) != 4 {
		t.Errorf("x is %v, %v; an append must not write on", x, err)
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	check("x", "closed")
}

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	x := tensor.Tensor{DType: tensor.Uint8, Shape: []int{1}, Data: []byte{7}}
	path := filepath.Join(t.TempDir(), "x.safetensors")
	if err := safetensors.Write(path, []safetensors.Named{{Name: "x", Tensor: x}}); err != nil {
		t.Fatal(err)
	}
	for name, tensors := range map[string][]safetensors.Named{
		"taken":             {{Name: "x", Tensor: x}, {Name: "x", Tensor: x}},
		"is taken":          {{Name: "__metadata__", Tensor: x}},
		"not UTF-8":         {{Name: "\xff", Tensor: x}},
		"1 bytes of data":   {{Name: "x", Tensor: tensor.Tensor{DType: tensor.F16, Shape: []int{1}, Data: []byte{7}}}},
		"unknown number":    {{Name: "x", Tensor: tensor.Tensor{}}},
		"several files":     {{Name: strings.Repeat("x", safetensors.MaxHeader), Tensor: x}},
		"along the last ax": {{Name: "x", Tensor: tensor.Tensor{DType: tensor.Float4E2M1, Shape: []int{1}, Data: []byte{7}}}},
	} {
		if err := safetensors.Write(path, tensors); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
	f, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := f.Tensor("x"); err != nil || got.Data[0] != 7 {
		t.Errorf("the old file is now %v, %v", got, err)
	}
}

// TestReadTrustsNobody: the file has a limit, is no link, and may change later.
func TestReadTrustsNobody(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "x"), filepath.Join(dir, "link")
	x := tensor.Tensor{DType: tensor.Uint8, Shape: []int{3}, Data: []byte{1, 2, 3}}
	if err := safetensors.Write(path, []safetensors.Named{{Name: "x", Tensor: x}}); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Read(path, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := safetensors.Read(path, 20); err == nil || !strings.Contains(err.Error(), "at most 20") {
		t.Errorf("a long file: %v", err)
	}
	if _, err := safetensors.Read(dir, 1000); err == nil {
		t.Error("a folder is read")
	}
	if _, err := safetensors.Open(dir); err == nil {
		t.Error("a folder is opened")
	}
	if err := os.Symlink(path, link); err == nil {
		if _, err := safetensors.Read(link, 1000); err == nil {
			t.Error("a link is read")
		}
		if _, err := safetensors.Open(link); err != nil {
			t.Errorf("a link of a dataset: %v", err)
		}
	} else if runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Tensor("x"); err != nil || !bytes.Equal(got.Data, x.Data) {
		t.Errorf("after the file was cut: %v, %v", got, err)
	}
	for _, read := range []func(string) (*safetensors.File, error){safetensors.Open, func(p string) (*safetensors.File, error) { return safetensors.Read(p, 9) }} {
		for _, p := range []string{path, filepath.Join(dir, "absent")} {
			if _, err := read(p); err == nil || !strings.Contains(err.Error(), p) {
				t.Errorf("%v, want an error that names %s", err, p)
			}
		}
	}
}

// TestRecordedFiles reads files that others wrote, and writes them again, byte
// for byte.
func TestRecordedFiles(t *testing.T) {
	t.Parallel()
	dir := testtier.Data(t, "recorded files were NOT read", "flashinfer")
	count := 0
	err := filepath.WalkDir(filepath.Join(dir, "flashinfer"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".safetensors" {
			return err
		}
		count++
		f, err := safetensors.Open(path)
		if err != nil {
			t.Error(err)
			return nil
		}
		defer f.Close()
		data, err := os.ReadFile(path)
		if got := encode(t, contents(t, f)); len(f.Names()) == 0 || !bytes.Equal(got, data) {
			t.Errorf("%s: %q, and written again it differs", path, f.Names())
		}
		return err
	})
	if err != nil || count < 9 {
		t.Errorf("%d files, %v", count, err)
	}
}

// FuzzParse: nothing panics, all that is accepted is valid, and has the same
// contents when it is written and read again.
func FuzzParse(f *testing.F) {
	f.Add(file(`{"x":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]},"y":{"dtype":"BOOL","shape":[],"data_offsets":[4,5]}}  `, 5))
	f.Add(file(`{"__metadata__":{"format":"pt"},"z":{"dtype":"U32","shape":[1],"data_offsets":[0,4]}}`, 4))
	f.Add(file(`{"x":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}}`, 2))
	f.Add(file(`{"x":{"dtype":"F32","shape":[0,99999999999],"data_offsets":[0,0]}}`, 0))
	f.Add(file(`{"x":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, 0))
	f.Add(file(`{"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"y":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}}`, 7))
	f.Add(file(`{"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"x":{"dtype":"U8","shape":[4`, 4))
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, '{'})
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := safetensors.Parse(data)
		if err != nil {
			return
		}
		var known []safetensors.Named
		for _, name := range file.Names() {
			x, err := file.Tensor(name)
			if err != nil {
				continue
			}
			if err := x.Validate(); err != nil || x.Shape == nil {
				t.Fatalf("%q: %v", name, err)
			}
			if x.DType != tensor.Float4E2M1 {
				known = append(known, safetensors.Named{Name: name, Tensor: x})
			}
		}
		again, err := safetensors.Parse(encode(t, known))
		if err != nil {
			t.Fatal(err)
		}
		if got := contents(t, again); !slices.EqualFunc(got, known, equal) {
			t.Fatalf("got %v, want %v", got, known)
		}
	})
}

// BenchmarkFile reads and writes 16 MiB, and the same bytes without a format.
func BenchmarkFile(b *testing.B) {
	const size = 16 << 20
	path := filepath.Join(b.TempDir(), "x")
	tensors := []safetensors.Named{{Name: "x", Tensor: tensor.Tensor{DType: tensor.BF16, Shape: []int{size / 2}, Data: make([]byte, size)}}}
	var sum byte
	touch := func(data []byte) {
		for i := 0; i < len(data); i += 64 {
			sum += data[i]
		}
	}
	use := func(f *safetensors.File, err error) error {
		if err != nil {
			return err
		}
		x, err := f.Tensor("x")
		touch(x.Data)
		return errors.Join(err, f.Close())
	}
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"Write", func() error { return safetensors.Write(path, tensors) }},
		{"Encode", func() error {
			f, err := os.Create(path)
			if err != nil {
				return err
			}
			return errors.Join(safetensors.Encode(f, tensors), f.Close())
		}},
		{"os.WriteFile", func() error { return os.WriteFile(path+".raw", tensors[0].Tensor.Data, 0o644) }},
		{"Open", func() error { return use(safetensors.Open(path)) }},
		{"Read", func() error { return use(safetensors.Read(path, 1<<30)) }},
		{"os.ReadFile", func() error {
			data, err := os.ReadFile(path)
			touch(data)
			return err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
