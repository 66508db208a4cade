package measure

import (
	"reflect"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
)

// redact returns a copy of value, such as a Run, in which hide was applied to
// each string: of fields, of elements, and of the keys and values of maps. It
// walks the type, so a new field is covered without being listed. Memory that
// holds no string is shared with value; the rest of value stays as it is.
// Unexported fields are copied as they are: [time.Time] has some.
func redact[T any](value T, hide func(string) string) T {
	return redacted(reflect.ValueOf(&value).Elem(), hide).Interface().(T)
}

func redacted(v reflect.Value, hide func(string) string) reflect.Value {
	switch v.Kind() {
	case reflect.String:
		said := v.String()
		hidden := hide(said)
		if hidden == said {
			return v
		}
		text := reflect.New(v.Type()).Elem()
		text.SetString(hidden)
		return text
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		target := reflect.New(v.Type().Elem())
		target.Elem().Set(redacted(v.Elem(), hide))
		return target
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		held := reflect.New(v.Type()).Elem()
		held.Set(redacted(v.Elem(), hide))
		return held
	case reflect.Struct:
		fields := reflect.New(v.Type()).Elem()
		fields.Set(v)
		for i := range v.NumField() {
			if field := fields.Field(i); field.CanSet() && !field.IsZero() { // most fields of a result are empty
				field.Set(redacted(v.Field(i), hide))
			}
		}
		return fields
	case reflect.Map:
		return redactedMap(v, hide)
	case reflect.Slice, reflect.Array:
		return redactedList(v, hide)
	}
	return v
}

func redactedMap(v reflect.Value, hide func(string) string) reflect.Value {
	if v.IsNil() {
		return v
	}
	entries := reflect.MakeMapWithSize(v.Type(), v.Len())
	for key, value := range v.Seq2() {
		entries.SetMapIndex(redacted(key, hide), redacted(value, hide))
	}
	return entries
}

func redactedList(v reflect.Value, hide func(string) string) reflect.Value {
	if kind := v.Type().Elem().Kind(); kind >= reflect.Bool && kind <= reflect.Complex128 || v.Kind() == reflect.Slice && v.IsNil() {
		return v // numbers, of which samples have many
	}
	list := reflect.New(v.Type()).Elem()
	if v.Kind() == reflect.Slice {
		list.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
	}
	for i := range v.Len() {
		list.Index(i).Set(redacted(v.Index(i), hide))
	}
	return list
}

// checkIDs refuses to measure a cell whose id holds a secret: the id is what
// runs, baselines and reports name the cell by, so it cannot be redacted.
func (l Secrets) checkIDs(cells []bench.Cell) error {
	for _, c := range cells {
		if id := c.ID(); l.Hide(id) != id {
			return exit.Usagef(
				"the id of cell %s of suite %s holds a secret of this process's environment: rename the value, or unset the variable",
				l.Hide(id), c.Suite)
		}
	}
	return nil
}
