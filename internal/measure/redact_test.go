package measure

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
)

const secretText = "s3cret-token"

// fill sets everything in v: each string to one of its own that holds the
// secret, each list and map to one element. It fails for what redact cannot
// reach: a field that is not exported.
func fill(t *testing.T, v reflect.Value, path string, n *int) {
	t.Helper()
	switch *n++; v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("%d %s", *n, secretText))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8:
		v.SetUint(1) // a kind of number, which is written as a word
	case reflect.Float64:
		v.SetFloat(float64(*n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), path, n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0), path+"[]", n)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key, path+" key", n)
		fill(t, value, path+"{}", n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(int64(*n), 0).UTC()))
			return
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				t.Errorf("%s.%s is not exported, so its strings cannot be redacted: export it", path, f.Name)
				continue
			}
			fill(t, v.Field(i), path+"."+f.Name, n)
		}
	default:
		t.Errorf("%s is a %s: teach redact and this test about it", path, v.Kind())
	}
}

// texts calls see for each string in v.
func texts(v reflect.Value, path string, see func(path, text string)) {
	switch v.Kind() {
	case reflect.String:
		see(path, v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			texts(v.Elem(), path, see)
		}
	case reflect.Slice:
		for i := range v.Len() {
			texts(v.Index(i), path+"[]", see)
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			texts(key, path+" key", see)
			texts(value, path+"{}", see)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				texts(v.Field(i), path+"."+v.Type().Field(i).Name, see)
			}
		}
	}
}

// TestRedactCoversEachStringOfARun walks the type, so a text field that is
// added to it is tested without this test being changed. Redaction once listed
// fields, and a new one was not covered.
func TestRedactCoversEachStringOfARun(t *testing.T) {
	t.Parallel()
	var run bench.Run
	n := 0
	fill(t, reflect.ValueOf(&run).Elem(), "Run", &n)
	before, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	m := Secrets{secretText}
	hidden := redact(&run, m.Hide)

	count := 0
	texts(reflect.ValueOf(run), "Run", func(path, text string) {
		if count++; !strings.Contains(text, secretText) {
			t.Errorf("%s is %q: it was changed in the original, or the test does not fill it", path, text)
		}
	})
	found := 0
	texts(reflect.ValueOf(*hidden), "Run", func(path, text string) {
		if found++; strings.Contains(text, secretText) || !strings.HasSuffix(text, " ***") {
			t.Errorf("%s is %q after redaction", path, text)
		}
	})
	if found != count || count < 50 {
		t.Errorf("%d strings before and %d after redaction, want as many, and at least 50", count, found)
	}
	after, err := json.Marshal(hidden)
	if err != nil || strings.ReplaceAll(string(before), secretText, "***") != string(after) {
		t.Errorf("redaction changed more than strings (%v):\n%s\n%s", err, before, after)
	}
}

func TestRedactKeepsNothing(t *testing.T) {
	t.Parallel()
	var empty bench.Run
	if got := redact(empty, strings.ToUpper); !reflect.DeepEqual(got, empty) {
		t.Errorf("an empty run became %+v", got)
	}
}

func TestACellWhoseIDHoldsASecret(t *testing.T) {
	t.Parallel()
	m := Secrets{secretText}
	cells := []bench.Cell{{Raw: "fine"}, {Suite: "models", Raw: "m-" + secretText}}
	if err := m.checkIDs(cells[:1]); err != nil {
		t.Error(err)
	}
	if err := m.checkIDs(cells); err == nil || strings.Contains(err.Error(), secretText) || !strings.Contains(err.Error(), "m-***") {
		t.Errorf("got %v, want an error that does not hold the secret", err)
	}
}
