package cli

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/config"
)

// TestSchemaHasEachDescription: no description is left of a key that is gone.
func TestSchemaHasEachDescription(t *testing.T) {
	marked, bodies, names := config.Keys{}, map[string]any{}, map[string]string{}
	for kind, k := range kinds {
		bodies[kind] = k.Body
		for of, keys := range k.Keys {
			marked[of] = map[string]config.Key{}
			for key := range keys {
				mark := fmt.Sprintf("mark %d.", len(names))
				names[mark] = fmt.Sprintf("%v: %s", of, key)
				marked[of][key] = config.Key{Text: mark}
			}
		}
	}
	schema, err := json.Marshal(config.Schema(bodies, marked))
	if err != nil {
		t.Fatal(err)
	}
	for mark, name := range names {
		if !strings.Contains(string(schema), `"`+mark+`"`) {
			t.Errorf("%s describes no key: remove it from keys.go", name)
		}
	}
}

// TestSchemaHasDefaults: what a body has before it is decoded is what its schema says of absent keys.
func TestSchemaHasDefaults(t *testing.T) {
	for _, kind := range kinds {
		checkDefaults(t, kind.Keys, reflect.ValueOf(kind.Body))
	}
}

func checkDefaults(t *testing.T, keys config.Keys, body reflect.Value) {
	for _, f := range reflect.VisibleFields(body.Type()) {
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if key == "" {
			continue
		}
		value := body.FieldByIndex(f.Index)
		if value.Kind() == reflect.Struct {
			checkDefaults(t, keys, value)
		} else if declared := keys[body.Type()][key].Absent; !value.IsZero() && !alike(declared, value) {
			t.Errorf("%v: %s is %v if absent, and keys.go says %v", body.Type(), key, value, declared)
		}
	}
}

// alike compares a default in keys.go with a value of the same key.
func alike(declared any, value reflect.Value) bool {
	if value.Type() == reflect.TypeFor[time.Duration]() {
		d, err := time.ParseDuration(fmt.Sprint(declared))
		return err == nil && int64(d) == value.Int()
	}
	if value.Kind() == reflect.Slice && value.Len() == 1 { // a plain value stands for a list of one
		value = value.Index(0)
	}
	return fmt.Sprint(declared) == fmt.Sprint(value)
}
