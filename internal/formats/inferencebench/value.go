package inferencebench

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// get follows the path "model.id" through objects.
func (v value) get(path string) (value, bool) {
	for key := range strings.SplitSeq(path, ".") {
		i := slices.Index(v.keys, key)
		if i < 0 {
			return value{}, false
		}
		v = v.items[i]
	}
	return v, true
}

// set gives the member at path a value and makes the objects on the way to it.
func (v *value) set(path string, to value) {
	v.kind = object
	key, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		v.add(key, to)
		return
	}
	i := slices.Index(v.keys, key)
	if i < 0 {
		v.add(key, value{kind: object})
		i = len(v.keys) - 1
	}
	v.items[i].set(rest, to)
}

// add gives the member with this name, which may hold dots, a value.
func (v *value) add(key string, to value) {
	v.kind = object
	key = strings.ToValidUTF8(key, "\ufffd")
	if i := slices.Index(v.keys, key); i >= 0 {
		v.items[i] = to
		return
	}
	v.keys, v.items = append(v.keys, key), append(v.items, to)
}

// plain returns a value for people and for comparing: a text without its
// quotes, anything else as canonical JSON.
func (v value) plain() string {
	if v.kind == str {
		return strings.ToValidUTF8(v.text, "\ufffd")
	}
	return string(v.canonical())
}

// condition is plain, with one spelling for a number: clients write a
// concurrency of 4 as 4.0, too.
func (v value) condition() string {
	if x, ok := v.float(); ok && x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return strconv.FormatInt(int64(x), 10)
	}
	return v.plain()
}

// float returns a number, which may be infinite or NaN. As in Python, what
// float64 cannot hold is infinite, or 0.
func (v value) float() (float64, bool) {
	if v.kind != number {
		return math.NaN(), false
	}
	f, _ := strconv.ParseFloat(v.text, 64)
	return f, true
}

func textValue(s string) value {
	return value{kind: str, text: strings.ToValidUTF8(s, "\ufffd")}
}

func floatValue(f float64) value { return value{kind: number, text: pythonFloat(f)} }

// encode makes a value of one that encoding/json can write.
func encode(from any) (value, error) {
	data, err := json.Marshal(from)
	if err != nil {
		return value{}, err
	}
	return read(data)
}

// decode fills in what encoding/json can read.
func (v value) decode(into any) error { return json.Unmarshal(v.canonical(), into) }
