package jsonread_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/text/jsonread"
)

// FuzzReader holds the reader against encoding/json: both agree on what is JSON
// and on what it holds.
func FuzzReader(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,{"\u0061\"":null}],"a":"\ud800é"}`, ` [ ] `, `{"a" 1}`, `[1,]`, `{"a":1,}`, `01`, `"\x"`, `{}x`, "{}\x00", `[1`, ``, ` `, `]`, `{1:2}`, `[1e999]`, "\"\xff\"", `[NaN]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := jsonread.New(data)
		got, err := value(r)
		if err == nil {
			err = r.End()
		}
		var want any
		wrong := json.Unmarshal(data, &want)
		if (err == nil) != (wrong == nil) || jsonread.Malformed(err) && json.Valid(data) {
			t.Fatalf("%q: %v, encoding/json: %v", data, err, wrong)
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %#v, encoding/json: %#v", data, got, want)
		}
	})
}

func value(r *jsonread.Reader) (v any, err error) {
	switch r.PeekKind() {
	case '{':
		object := map[string]any{}
		return object, r.Object(func(key []byte) (err error) {
			name := string([]rune(string(key))) // with U+FFFD where it is not UTF-8
			object[name], err = value(r)
			return err
		})
	case '[':
		list := []any{}
		err = r.List(func() error {
			v, err := value(r)
			list = append(list, v)
			return err
		})
		return list, err
	case '"':
		text, err := r.Text()
		return string([]rune(string(text))), err
	case '0':
		return r.Number()
	}
	token, err := r.ReadToken()
	if err != nil || token.Kind() == 'n' {
		return nil, err
	}
	return token.Bool(), nil
}

func TestOtherKinds(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(r *jsonread.Reader) error{
		"[]": func(r *jsonread.Reader) error { return r.Object(nil) },
		"{}": func(r *jsonread.Reader) error { return r.List(nil) },
		"1":  func(r *jsonread.Reader) error { _, err := r.Text(); return err },
		`"`:  func(r *jsonread.Reader) error { _, err := jsonread.Unquote([]byte(`"`)); return err },
		`""`: func(r *jsonread.Reader) error { _, err := r.Number(); return err },
	} {
		if err := read(jsonread.New([]byte(name))); err == nil || jsonread.Malformed(err) || !strings.HasPrefix(err.Error(), "has something else where ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
