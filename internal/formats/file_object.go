package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/text/jsonread/jsonkey"
)

// child returns the object at the path, nil if there is none.
func (o object) child(path ...string) object {
	for _, name := range path {
		var next object
		if json.Unmarshal(o[name], &next) != nil {
			return nil
		}
		o = next
	}
	return o
}

// benchmarks calls read for each object of the list that guidellm and
// llama-benchy keep their measurements in.
func (o object) benchmarks(read func(one object)) error {
	items, err := o.list("benchmarks")
	if err != nil {
		return err
	}
	for i, item := range items {
		var one object
		if err := json.Unmarshal(item, &one); err != nil || one == nil {
			return fmt.Errorf("benchmark %d is not an object: save the result again", i+1)
		}
		read(one)
	}
	return nil
}

// text returns a string or number at the path as people write it, "" for
// anything else. It is cut, because names become a part of every report.
func (o object) text(path ...string) string {
	raw := o.child(path[:len(path)-1]...)[path[len(path)-1]]
	var s string
	if json.Unmarshal(raw, &s) != nil {
		if v, ok, err := number(raw); ok && err == nil {
			s = decimal(v)
		}
	}
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "")
	}
	return strings.TrimSpace(s)
}

const maxText = 200

// decimal writes counts without an exponent.
func decimal(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// first returns the first text that is not empty.
func (o object) first(paths ...string) string {
	for _, path := range paths {
		if s := o.text(strings.Split(path, ".")...); s != "" {
			return s
		}
	}
	return ""
}

// list returns the elements of a list of at most maxList.
func (o object) list(name string) (items []json.RawMessage, err error) {
	raw := o[name]
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if start, err := decoder.Token(); err != nil || start != json.Delim('[') {
		return nil, fmt.Errorf("%s is not a list: see whether the file is this tool's", name)
	}
	for decoder.More() {
		if len(items) == maxList {
			return nil, fmt.Errorf("%s has more than %d elements: split the file", name, maxList)
		}
		var item json.RawMessage
		if err := decoder.Decode(&item); err != nil {
			return nil, fmt.Errorf("%s: %w: save the file again", name, err)
		}
		items = append(items, item)
	}
	return items, nil
}

// number reads a JSON number, or one of the words that stand for numbers that
// are not finite. ok is false where there is nothing: no member, or null.
func number(raw json.RawMessage) (v float64, ok bool, err error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return 0, false, nil
	}
	if len(raw) > maxText {
		return 0, false, fmt.Errorf("%.40q is too long for a number", raw)
	}
	s := string(raw)
	if quoted := strings.Trim(s, `"`); notFinite[quoted] {
		s = quoted
	} else if s[0] != '-' && (s[0] < '0' || s[0] > '9') {
		return 0, false, fmt.Errorf("%.40q is not a number", s)
	}
	if v, err = strconv.ParseFloat(s, 64); err != nil {
		return 0, false, fmt.Errorf("%.40q is not a number that can be held", s)
	}
	return v, true, nil
}

// decodeFile returns the objects in data, at least one and at most maxCells.
func decodeFile(data []byte) (documents []object, err error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	switch {
	case len(data) == 0:
		return nil, errors.New("the result is empty: see whether the load generator ran to its end")
	case data[0] != '[' && data[0] != '{':
		return nil, unknown()
	}
	if data, err = quoteWords(data); err != nil {
		return nil, err
	}
	if err := jsonkey.Check(data); err != nil {
		return nil, err
	}
	if data[0] == '[' {
		if data, err = elements(data); err != nil {
			return nil, err
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	for {
		var o object
		err := decoder.Decode(&o)
		switch {
		case err == io.EOF && len(documents) > 0:
			return documents, nil
		case err == io.EOF:
			return nil, unknown()
		case err != nil || o == nil:
			return nil, fmt.Errorf("object %d of the result is not a JSON object (%v): save the result again", len(documents)+1, err)
		case len(documents) == maxCells:
			return nil, fmt.Errorf("the result holds more than %d objects: split the file", maxCells)
		}
		documents = append(documents, o)
	}
}

// elements turns a list of objects into objects one after another.
func elements(data []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	var whole json.RawMessage
	if err := decoder.Decode(&whole); err != nil {
		return nil, fmt.Errorf("the result is not valid JSON (%v): save it again", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("more text follows the list of results: give each list a file of its own")
	}
	items, err := object{"result": whole}.list("result")
	return bytes.Join(rawBytes(items), []byte("\n")), err
}

func rawBytes(items []json.RawMessage) (all [][]byte) {
	for _, item := range items {
		all = append(all, item)
	}
	return all
}

// quoteWords makes strings of the bare words for numbers that are not finite,
// which are no JSON, and counts the members of objects: two bytes of input
// must not become a whole entry of a map by the million.
func quoteWords(data []byte) ([]byte, error) {
	var out []byte
	copied, members := 0, 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case '"':
			i = endOfString(data, i)
		case ':':
			if members++; members > maxMembers {
				return nil, fmt.Errorf("the result holds more than %d members: save it without the records of single requests", maxMembers)
			}
		case 'N', 'I', 'n', 'i', '-':
			word := wordAt(data[i:])
			if word == "" {
				continue
			}
			out = append(append(out, data[copied:i]...), `"`+word+`"`...)
			i += len(word) - 1
			copied = i + 1
		}
	}
	if out == nil {
		return data, nil
	}
	return append(out, data[copied:]...), nil
}

func wordAt(data []byte) string {
	for n := min(len("-Infinity"), len(data)); n > 0; n-- {
		if word := string(data[:n]); notFinite[word] {
			return word
		}
	}
	return ""
}

// endOfString returns the index of the quote that ends the string at i.
func endOfString(data []byte, i int) int {
	for i++; i < len(data) && data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i
}
