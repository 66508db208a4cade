package cases

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
	"github.com/accelgate/accelgate/internal/text"
)

// ReadPairs reads pairs from YAML or JSON of the form
//
//	cases:
//	  - name: qwen3-8B_auto
//	    description: decode, context 1536 against 1500
//	    type: text          # if absent
//	    tolerance: 5%       # if absent; or a fraction such as 0.05
//	    baseline_input: {model_id: Qwen/Qwen3-8B, context_length: 1536}
//	    compare_input: {model_id: Qwen/Qwen3-8B, context_length: 1500}
//
// The inputs are read as strictly as the settings of a case file. The path
// stands in messages, followed by a JSON path.
func ReadPairs(path string, data []byte) ([]Pair, error) {
	text, err := config.ToJSON(path, data)
	if err != nil {
		return nil, err
	}
	r := pairReader{path: path}
	root := r.object(text, "", "cases")
	var items []json.RawMessage
	if raw := r.required(root, "", "cases"); raw != nil && json.Unmarshal(raw, &items) != nil {
		r.fail("cases", "want a list: write one item per case, each starting with \"- \"")
	}
	pairs := make([]Pair, 0, len(items))
	for i, item := range items {
		p := r.pair(item, index("cases", i))
		if slices.ContainsFunc(pairs, func(o Pair) bool { return p.Name != "" && o.Name == p.Name }) {
			r.fail(index("cases", i)+".name", "%q occurs twice: rename one of the two", p.Name)
		}
		pairs = append(pairs, p)
	}
	if r.errs == nil && len(pairs) == 0 {
		r.fail("cases", "is empty: add a case with name, baseline_input and compare_input")
	}
	if r.errs != nil {
		return nil, r.errs
	}
	return pairs, nil
}

// pairReader collects what is wrong with a file.
type pairReader struct {
	path string
	errs text.Problems[error]
}

func (r *pairReader) fail(at, format string, args ...any) {
	const maximum = 100
	if len(r.errs) < maximum {
		r.errs = append(r.errs, fmt.Errorf("%s: %s: %s", r.path, at, fmt.Sprintf(format, args...)))
	}
}

var pairKeys = []string{"name", "description", "type", "tolerance", "baseline_input", "compare_input"}

func (r *pairReader) pair(item json.RawMessage, at string) Pair {
	o := r.object(item, at, pairKeys...)
	p := Pair{Type: casefile.Text, Tolerance: defaultTolerance}
	if raw := r.required(o, at, "name"); raw != nil {
		p.Name = r.text(raw, at+".name")
		if p.Name != "" && !nameable(p.Name) {
			r.fail(at+".name", "%q cannot be the name of a case's file: use letters, digits, dots, dashes and underscores", p.Name)
		}
	}
	if raw := o["description"]; raw != nil {
		p.Description = r.text(raw, at+".description")
	}
	if raw := o["type"]; raw != nil {
		if p.Type = r.text(raw, at+".type"); p.Type != casefile.Text && p.Type != casefile.Video {
			r.fail(at+".type", "unknown type %q: write text or video", p.Type)
			return p
		}
	}
	if raw := o["tolerance"]; raw != nil {
		p.Tolerance = r.tolerance(raw, at+".tolerance")
	}
	p.Baseline = r.settings(o, at, "baseline_input", p.Type)
	p.Compare = r.settings(o, at, "compare_input", p.Type)
	return p
}

// nameable reports whether a case's file can have the name on every system.
func nameable(name string) bool {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune(`/\:*?"<>|`, r) }
	return len(name) <= 200 && !strings.HasPrefix(name, ".") && !strings.ContainsFunc(name, odd)
}

func (r *pairReader) settings(o map[string]json.RawMessage, at, key, typ string) map[string]any {
	raw := r.required(o, at, key)
	if raw == nil {
		return nil
	}
	settings, err := casefile.ParseSettings(r.path, at+"."+key, typ, raw)
	if err != nil {
		r.errs = append(r.errs, err)
	}
	return settings
}

func (r *pairReader) required(o map[string]json.RawMessage, at, key string) json.RawMessage {
	raw, ok := o[key]
	if !ok && o != nil {
		r.fail(strings.TrimPrefix(at+"."+key, "."), "is missing: add it")
	}
	return raw
}

// object reads an object that has none but the known keys; nil if it is none.
func (r *pairReader) object(raw json.RawMessage, at string, known ...string) map[string]json.RawMessage {
	var o map[string]json.RawMessage
	if err := json.Unmarshal(raw, &o); err != nil || o == nil {
		r.fail(at, "want a mapping: write one \"key: value\" per line, indented")
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(known, key) {
			r.fail(strings.TrimPrefix(at+"."+key, "."), "unknown key%s: use one of %s", near(key, known), strings.Join(known, ", "))
		}
	}
	return o
}

func (r *pairReader) text(raw json.RawMessage, at string) (s string) {
	if err := json.Unmarshal(raw, &s); err != nil || s == "" {
		r.fail(at, "want text: write a value, in quotes if it reads like a number")
	}
	return s
}

// tolerance reads 0.05 or "5%".
func (r *pairReader) tolerance(raw json.RawMessage, at string) float64 {
	var s string
	var f float64
	var percent config.Percent
	switch {
	case json.Unmarshal(raw, &f) == nil && f >= 0 && f < 1 && string(raw) != "null":
		return f
	case json.Unmarshal(raw, &s) == nil && strings.HasSuffix(s, "%") && percent.UnmarshalText([]byte(s)) == nil:
		return float64(percent) / 100
	}
	r.fail(at, "%s is not a tolerance: write a fraction from 0 to below 1, such as 0.05, or a percentage such as 5%%",
		text.Line(string(raw), 60))
	return 0
}
