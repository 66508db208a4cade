package jsonkey_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/text/jsonread/jsonkey"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	many := "{"
	for i := range 40 {
		many += fmt.Sprintf(`"k%d":%d,`, i, i)
	}
	for name, c := range map[string]struct {
		json       string
		once, fold bool // whether Check and CheckFold find nothing
	}{
		"once":                     {`{"tps":5,"ms":{"tps":1}}`, true, true},
		"twice":                    {`{"tps":5,"tps":500}`, false, false},
		"equal values":             {`{"tps":5,"tps":5}`, false, false},
		"nested":                   {`{"a":[{"b":{"tps":5 , "x":[{}] , "tps" : 500}}]}`, false, false},
		"in two objects":           {`[{"tps":5},{"tps":500}]`, true, true},
		"two values":               {"{\"tps\":5}\n{\"tps\":500}", true, true},
		"escaped":                  {`{"tps":5,"\u0074ps":500}`, false, false},
		"escaped quote":            {`{"a\"":1,"a\\":2,"a":3}`, true, true},
		"as text":                  {`{"a":"{\"tps\":5,\"tps\":5}","b":"tps"}`, true, true},
		"as values":                {`{"a":"tps","b":"tps","c":["tps","tps"]}`, true, true},
		"letter case":              {`{"tps":5,"TPS":500}`, true, false},
		"one of many":              {many + `"k7":0}`, false, false},
		"many":                     {many + `"k":0}`, true, true},
		"empty":                    {``, true, true},
		"no JSON":                  {`}]"a":1,"a":1`, true, true},
		"cut off inside a string":  {`{"a":1,"a`, true, true},
		"cut off inside an escape": {`{"a\`, true, true},
	} {
		for fold, check := range map[bool]func([]byte) error{false: jsonkey.Check, true: jsonkey.CheckFold} {
			want := c.once
			if fold {
				want = c.fold
			}
			err := check([]byte(c.json))
			if (err == nil) != want || err != nil && !errors.Is(err, jsonkey.ErrContradiction) {
				t.Errorf("%s, fold %v: %v, want none: %v", name, fold, err, want)
			}
		}
	}
}

// FuzzCheck compares with a reader of the token stream of encoding/json.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{`{"a":1,"a":2}`, `{"a":{"b":1},"b":[{"a":1},{"a":2}]}`, `{"\u0061":1,"a":2}`, `[{}]`, `"a"`, `{"a`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := jsonkey.Check(data)
		if !json.Valid(data) {
			return
		}
		decoder := json.NewDecoder(strings.NewReader(string(data)))
		if want := repeats(t, decoder); (err != nil) != want {
			t.Errorf("%q: %v, want an error: %v", data, err, want)
		}
	})
}

// repeats reads one value and reports whether a key in it occurs twice.
func repeats(t *testing.T, d *json.Decoder) (found bool) {
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	delim, _ := token.(json.Delim)
	if delim != '{' && delim != '[' {
		return false
	}
	seen := map[string]bool{}
	for d.More() {
		if delim == '{' {
			key, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			found = found || seen[key.(string)]
			seen[key.(string)] = true
		}
		found = repeats(t, d) || found
	}
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	return found
}
