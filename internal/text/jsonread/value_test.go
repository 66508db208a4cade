package jsonread_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/accelgate/accelgate/internal/text/jsonread"
)

// TestTree: values have their place, keys their order, and one that is given twice stands twice.
func TestTree(t *testing.T) {
	t.Parallel()
	const text = "{\n \"a\": [1e3, true,\n\"x\\ny\"], \"b\" : null, \"a\":{}}"
	root, err := jsonread.New([]byte(text)).Tree(7, 0, 0)
	if err != nil || root.Kind != '{' || root.Line != 7 || root.Text != text || len(root.Members) != 3 {
		t.Fatalf("%+v, %v", root, err)
	}
	list := root.Members[0]
	if list.Key != "a" || list.Kind != '[' || text[list.KeyAt:list.KeyEnd] != `"a"` || text[list.At:list.End] != list.Text || list.Line != 8 {
		t.Errorf("the list is %+v", list)
	}
	for i, want := range []jsonread.Value{{Kind: '0', Text: "1e3", Line: 8}, {Kind: 't', Text: "true", Line: 8}, {Kind: '"', Text: "x\ny", Line: 9}} {
		if got := list.Members[i]; got.Kind != want.Kind || got.Text != want.Text || got.Line != want.Line || got.Key != "" {
			t.Errorf("element %d is %+v, want %+v", i, got, want)
		}
	}
	if b, a := root.Members[1], root.Members[2]; b.Key != "b" || b.Kind != 'n' || a.Key != "a" || a.Kind != '{' || len(a.Members) > 0 {
		t.Errorf("the others are %+v and %+v", b, a)
	}
}

func TestTreeLimits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		`[[1]]`: nil, `[[[1]]]`: jsonread.ErrTooLarge, `[1,2,3,4]`: nil, `[1,2,3,4,5]`: jsonread.ErrTooLarge,
	} {
		if _, err := jsonread.New([]byte(text)).Tree(0, 2, 5); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

// FuzzTree: a tree is made of exactly what encoding/json takes for JSON, and an open reader forgets the text before.
func FuzzTree(f *testing.F) {
	for _, text := range []string{`{"a":[1,{"b":"\ud800"}],"a":-0.5e-7}`, `[1,]`, `{"a"}`, "1 2", "", "\"\xff\"", "nul", "[\"\\u00e9\"]"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := jsonread.New([]byte(`["before"]`))
		if _, err := r.Tree(0, 0, 0); err != nil {
			t.Fatal(err)
		}
		r.Open(text)
		root, err := r.Tree(0, 100, 0)
		if errors.Is(err, jsonread.ErrTooLarge) {
			return
		}
		if (err == nil) != json.Valid(text) {
			t.Fatalf("%q: %v, and encoding/json takes it: %v", text, err, json.Valid(text))
		}
		if err == nil && string(text[root.At:root.End]) != r.Whole()[root.At:root.End] {
			t.Errorf("%q stands at %d to %d", text, root.At, root.End)
		}
	})
}
