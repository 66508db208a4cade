package structured_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/endpoint/structured"
)

const person = `{"type": "object", "properties": {"name": {"type": "string", "minLength": 1}, "age": {"$ref": "#/$defs/age"}, "roles": {"type": "array", "items": {"enum": ["a", "b"]}}},
 "required": ["name", "age"], "additionalProperties": false, "$defs": {"age": {"type": "integer", "minimum": 0}}}`

func TestAnswers(t *testing.T) {
	t.Parallel()
	s, err := structured.Read([]byte(person))
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]string{
		` {"name": "x", "age": 3, "roles": ["a"]}` + "\n": "",
		`{"name": "x", "age": 3.0}`:                       "",
		"":                                                "is empty",
		`{"name": "x", "a`:                                "was cut",
		"Sure! {}":                                        "is not JSON",
		`{"name": "x", "age": 3} as asked`:                "text after its JSON value",
		"```json\n{}\n```":                                "is not JSON",
		`{"name": "x"}`:                                   "does not keep the schema",
		`{"name": "", "age": 3}`:                          "minLength",
		`{"name": "x", "age": -1}`:                        "minimum",
		`{"name": "x", "age": 1.5}`:                       "does not keep the schema",
		`{"name": "x", "age": 1, "more": 1}`:              "does not keep the schema",
		`{"name": "x", "age": 1, "roles": ["c"]}`:         "enum",
		`[]`: "does not keep the schema",
	} {
		err := s.Check(answer)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", answer, err, want)
		}
	}
}

func TestSchemas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{}":                                     "",
		"":                                       "is not a JSON object",
		"[]":                                     "is not a JSON object",
		"{":                                      "is not a JSON Schema",
		`{"type": 3}`:                            "is not a JSON Schema",
		`{"pattern": "("}`:                       "stands alone",
		`{"$ref": "https://example.com/x.json"}`: "under $defs",
		`{"$ref": "#/$defs/none"}`:               "stands alone",
	} {
		s, err := structured.Read([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err == nil && (len(s.Hash) != 64 || string(s.Raw) != text) {
			t.Errorf("%q: %s %s", text, s.Raw, s.Hash)
		}
	}
}

func FuzzCheck(f *testing.F) {
	s, err := structured.Read([]byte(person))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`{"name": "x", "age": 3, "roles": ["a"]}`)
	f.Add(`{"name": {"name": []}, "age": 1e400}`)
	f.Fuzz(func(t *testing.T, answer string) {
		if err := s.Check(answer); err == nil && !strings.Contains(answer, "name") && !strings.Contains(answer, `\u`) {
			t.Errorf("%q was taken", answer)
		}
	})
}
