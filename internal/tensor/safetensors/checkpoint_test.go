package safetensors_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/tensor"
	"github.com/accelgate/accelgate/internal/tensor/safetensors"
)

func put(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t testing.TB, target, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); runtime.GOOS == "windows" {
		t.Skipf("links were NOT tested: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
}

// one has a tensor of one byte, whose value is the name's first.
func one(t testing.TB, names ...string) []byte {
	var all []safetensors.Named
	for _, name := range names {
		all = append(all, safetensors.Named{Name: name, Tensor: tensor.Tensor{DType: tensor.Uint8, Shape: []int{1}, Data: []byte{name[0]}}})
	}
	return encode(t, all)
}

// split writes tensors as a checkpoint of several files.
func split(t testing.TB, r *rand.Rand, dir string, tensors []safetensors.Named) {
	t.Helper()
	shards, weights := make([][]safetensors.Named, 1+r.IntN(4)), map[string]string{}
	for _, x := range tensors {
		n := r.IntN(len(shards))
		shards[n] = append(shards[n], x)
		weights[x.Name] = fmt.Sprintf("model-%05d-of-%05d.safetensors", n+1, len(shards))
	}
	for n, shard := range shards {
		put(t, filepath.Join(dir, fmt.Sprintf("model-%05d-of-%05d.safetensors", n+1, len(shards))), encode(t, shard))
	}
	index, err := json.Marshal(map[string]any{"metadata": map[string]any{"total_size": 1.5e300}, "weight_map": weights})
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "model.safetensors.index.json"), index)
}

func sameTensors(t *testing.T, path string, want []safetensors.Named) {
	t.Helper()
	c, err := safetensors.OpenCheckpoint(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	list := c.Tensors()
	if len(list) != len(want) || len(c.Unlisted()) != 0 {
		t.Fatalf("%d tensors and %q, want %d", len(list), c.Unlisted(), len(want))
	}
	for i, info := range list {
		got, err := c.Tensor(info.Name)
		if err != nil || !equal(safetensors.Named{Name: info.Name, Tensor: got}, want[i]) {
			t.Fatalf("got %v, %v, want %v", got, err, want[i])
		}
		if x := want[i].Tensor; info.DType != x.DType || info.Format != x.DType.Safetensors() || !slices.Equal(info.Shape, x.Shape) ||
			info.Bytes != int64(len(x.Data)) || filepath.Ext(info.File) != ".safetensors" {
			t.Fatalf("described as %+v, is %v", info, x)
		}
	}
}

// TestCheckpoints: one file, a folder with one and a folder with several have
// the same tensors.
func TestCheckpoints(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 10))
	for range 60 {
		want := random(r)
		if len(want) == 0 {
			continue // an index of nothing is none
		}
		single, several := t.TempDir(), t.TempDir()
		put(t, filepath.Join(single, "model.safetensors"), encode(t, want))
		split(t, r, several, want)
		slices.SortFunc(want, func(a, b safetensors.Named) int { return strings.Compare(a.Name, b.Name) })
		sameTensors(t, filepath.Join(single, "model.safetensors"), want)
		sameTensors(t, single, want)
		sameTensors(t, several, want)
		put(t, filepath.Join(several, "model.safetensors"), encode(t, want[:1]))
		sameTensors(t, several, want[:1]) // the single file comes first
	}
}

func TestCheckpointIsClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "model.safetensors"), one(t, "x", "y"))
	c, err := safetensors.OpenCheckpoint(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Tensor("z"); err == nil || !strings.Contains(err.Error(), `the checkpoint has ["x" "y"]`) {
		t.Errorf("z: %v", err)
	}
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := c.Tensor("x"); err == nil || !strings.Contains(err.Error(), "closed") || len(c.Tensors()) != 0 {
		t.Errorf("after Close: %v, %v", err, c.Tensors())
	}
}

// TestIndex has indexes of the world outside for shards a (x, y) and b (z);
// refusal is a part of the message.
func TestIndex(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, index, refusal, unlisted string }{
		{"all", `{"weight_map":{"x":"a.safetensors","y":"a.safetensors","z":"b.safetensors"}}`, "", ""},
		{"other parts", `{"metadata":{"a":{"a":1}},"weight_map":{"x":"a.safetensors","y":"a.safetensors"},"more":[[]]}`, "", ""},
		{"not named", `{"weight_map":{"y":"a.safetensors","z":"b.safetensors"}}`, "", "a.safetensors: x"},
		{"absent tensor", `{"weight_map":{"w":"a.safetensors"}}`, `no such tensor`, ""},
		{"other shard", `{"weight_map":{"z":"a.safetensors"}}`, `no such tensor`, ""},
		{"absent shard", `{"weight_map":{"x":"c.safetensors"}}`, `which is not there`, ""},
		{"broken shard", `{"weight_map":{"x":"broken.safetensors"}}`, `no safetensors file`, ""},
		{"folder", `{"weight_map":{"x":"folder.safetensors"}}`, `no regular file`, ""},
		{"above", `{"weight_map":{"x":"../a.safetensors"}}`, `not a name of`, ""},
		{"above, escaped", `{"weight_map":{"x":"\u002e.\u002fa.safetensors"}}`, `not a name of`, ""},
		{"above, Windows", `{"weight_map":{"x":"..\\a.safetensors"}}`, `not a name of`, ""},
		{"below", `{"weight_map":{"x":"sub/a.safetensors"}}`, `not a name of`, ""},
		{"absolute", `{"weight_map":{"x":"/a.safetensors"}}`, `not a name of`, ""},
		{"volume", `{"weight_map":{"x":"C:a.safetensors"}}`, `not a name of`, ""},
		{"zero", `{"weight_map":{"x":"a\u0000.safetensors"}}`, `not a name of`, ""},
		{"long", `{"weight_map":{"x":"` + strings.Repeat("a", 300) + `.safetensors"}}`, `not a name of`, ""},
		{"nothing", `{"weight_map":{"x":""}}`, `not a name of`, ""},
		{"other file", `{"weight_map":{"x":"passwd"}}`, `not a name of`, ""},
		{"tensor twice", `{"weight_map":{"x":"a.safetensors","\u0078":"b.safetensors"}}`, `"x" occurs twice`, ""},
		{"map twice", `{"weight_map":{"x":"a.safetensors"},"weight_map":{}}`, `"weight_map" occurs twice`, ""},
		{"no map", `{"metadata":{}}`, `"weight_map" is missing`, ""},
		{"empty map", `{"weight_map":{}}`, `"weight_map" is missing`, ""},
		{"other case", `{"Weight_Map":{"x":"a.safetensors"}}`, `"weight_map" is missing`, ""},
		{"numbers", `{"weight_map":{"x":1}}`, "no text", ""},
		{"list", `{"weight_map":["a.safetensors"]}`, "not a JSON object", ""},
		{"array", `[]`, "not a JSON object", ""},
		{"empty", ``, "not a JSON object", ""},
		{"cut", `{"weight_map":{"x":"a.safete`, "not a JSON object", ""},
		{"two", `{"weight_map":{"x":"a.safetensors"}}{}`, "not a JSON object", ""},
		{"deep", `{"a":` + strings.Repeat(`[`, 50_000) + strings.Repeat(`]`, 50_000) + `}`, "not a JSON object", ""},
		{"not UTF-8", "{\"weight_map\":{\"\xff\":\"a.safetensors\"}}", "UTF-8", ""},
		{"many shards", manyShards(), "4097 shards", ""},
		{"long index", `{"weight_map":{"x":"a.safetensors"}}` + strings.Repeat(" ", safetensors.MaxIndex), "more than 33554432 bytes", ""},
	} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "model.safetensors.index.json"), []byte(c.index))
		put(t, filepath.Join(dir, "a.safetensors"), one(t, "x", "y"))
		put(t, filepath.Join(dir, "b.safetensors"), one(t, "z"))
		put(t, filepath.Join(dir, "broken.safetensors"), []byte("x"))
		put(t, filepath.Join(dir, "folder.safetensors", "x"), nil)
		put(t, filepath.Join(dir, "sub", "a.safetensors"), one(t, "x"))
		f, err := safetensors.OpenCheckpoint(dir)
		switch {
		case err != nil && (c.refusal == "" || !strings.Contains(err.Error(), c.refusal) || !strings.Contains(err.Error(), ": ") || len(err.Error()) > 600):
			t.Errorf("%s: %v, want %q and what to do", c.name, err, c.refusal)
		case err == nil && (c.refusal != "" || strings.Join(f.Unlisted(), " ") != c.unlisted):
			t.Errorf("%s: accepted, with %v and %q", c.name, f.Tensors(), f.Unlisted())
		}
		if err == nil {
			f.Close()
		}
	}
}

func manyShards() string {
	var w strings.Builder
	w.WriteString(`{"weight_map":{`)
	for i := range safetensors.MaxShards + 1 {
		fmt.Fprintf(&w, `"%d":"%d.safetensors",`, i, i)
	}
	return w.String() + `"x":"0.safetensors"}}`
}

// TestCheckpointLinks: links lead nowhere but into the folder, and in Hugging
// Face's cache into that of the same model.
func TestCheckpointLinks(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	blob := filepath.Join(cache, "models--a--b", "blobs", "0123")
	put(t, blob, one(t, "x"))
	put(t, filepath.Join(cache, "models--a--c", "blobs", "0123"), one(t, "x"))
	put(t, filepath.Join(cache, "model.safetensors"), one(t, "x"))
	snapshot := filepath.Join(cache, "models--a--b", "snapshots", "f00d")
	link(t, "../../blobs/0123", filepath.Join(snapshot, "model.safetensors"))
	want := []safetensors.Named{{Name: "x", Tensor: tensor.Tensor{DType: tensor.Uint8, Shape: []int{1}, Data: []byte("x")}}}
	sameTensors(t, snapshot, want)
	short := filepath.Join(t.TempDir(), "short")
	link(t, snapshot, short)
	sameTensors(t, short, want) // the folder itself is the user's to name
	t.Run("index", func(t *testing.T) {
		dir := filepath.Join(cache, "models--a--b", "snapshots", "beef")
		put(t, filepath.Join(cache, "models--a--b", "blobs", "4567"), []byte(`{"weight_map":{"x":"s.safetensors"}}`))
		link(t, "../../blobs/4567", filepath.Join(dir, "model.safetensors.index.json"))
		link(t, "../../blobs/0123", filepath.Join(dir, "s.safetensors"))
		sameTensors(t, dir, want)
	})
	for name, c := range map[string]struct{ dir, target string }{
		"other model":       {"models--a--b/snapshots/1", "../../../models--a--c/blobs/0123"},
		"out of the cache":  {"models--a--b/snapshots/2", "../../../model.safetensors"},
		"absolute":          {"models--a--b/snapshots/3", blob},
		"beside":            {"plain", "../model.safetensors"},
		"no cache":          {"models--a--d/snapshots/4", "../../x"},
		"only called blobs": {"models--a--b/other/5", "../../blobs/0123"},
	} {
		dir := filepath.Join(cache, filepath.FromSlash(c.dir))
		link(t, c.target, filepath.Join(dir, "model.safetensors"))
		put(t, filepath.Join(cache, "models--a--d", "x"), one(t, "x"))
		if f, err := safetensors.OpenCheckpoint(dir); err == nil || !strings.Contains(err.Error(), "put the file itself") {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	inside := filepath.Join(cache, "inside")
	put(t, filepath.Join(inside, "sub", "m"), one(t, "x"))
	link(t, "sub/m", filepath.Join(inside, "model.safetensors"))
	sameTensors(t, inside, want)
}

func TestNoCheckpoint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "x.txt"), []byte("{}"))
	put(t, filepath.Join(dir, "sub", "model.safetensors", "x"), nil)
	put(t, filepath.Join(dir, "index", "model.safetensors.index.json", "x"), nil)
	for path, want := range map[string]string{
		"":       "neither model.safetensors nor model.safetensors.index.json is there",
		"absent": "name a *.safetensors file, or a folder",
		"x.txt":  "no safetensors file",
		"sub":    "no regular file",
		"index":  "no regular file",
	} {
		if _, err := safetensors.OpenCheckpoint(filepath.Join(dir, path)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", path, err, want)
		}
	}
}

// FuzzIndex: whatever an index says, only tensors of the folder's own shards are
// found, each once, and all can be read.
func FuzzIndex(f *testing.F) {
	for _, seed := range []string{
		`{"metadata":{"total_size":3},"weight_map":{"x":"a.safetensors","y":"a.safetensors","z":"b.safetensors"}}`,
		`{"weight_map":{"x":"a.safetensors","x":"b.safetensors"}}`,
		`{"weight_map":{"x":"../a.safetensors"}}`,
		`{"weight_map":{"secret":"../outside.safetensors"}}`,
		`{"weight_map":{"secret":"link.safetensors"}}`,
		`{"weight_map":{"x":{"file":"a.safetensors"}}}`,
		`{"weight_map":{"x":"a.safete`,
		`{"metadata":1e999,"weight_map":null}`,
	} {
		f.Add([]byte(seed))
	}
	above := f.TempDir()
	dir := filepath.Join(above, "model")
	put(f, filepath.Join(above, "outside.safetensors"), one(f, "secret"))
	put(f, filepath.Join(dir, "a.safetensors"), one(f, "x", "y"))
	put(f, filepath.Join(dir, "b.safetensors"), one(f, "z", "x"))
	if runtime.GOOS != "windows" {
		link(f, "../outside.safetensors", filepath.Join(dir, "link.safetensors"))
	}
	f.Fuzz(func(t *testing.T, index []byte) {
		put(t, filepath.Join(dir, "model.safetensors.index.json"), index)
		c, err := safetensors.OpenCheckpoint(dir)
		if err != nil {
			return
		}
		defer c.Close()
		last := ""
		for _, info := range c.Tensors() {
			x, err := c.Tensor(info.Name)
			if err != nil || info.Name <= last || info.Name == "secret" || len(x.Data) != 1 || x.Data[0] != info.Name[0] {
				t.Fatalf("%q after %q: %v, %v", info.Name, last, x, err)
			}
			last = info.Name
		}
	})
}
