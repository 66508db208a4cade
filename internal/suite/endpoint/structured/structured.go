// Package structured checks answers that must be JSON of a schema. It is pure
// and reads no file; references to other documents are refused.
package structured

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// MaxSchema bounds a schema, in bytes.
const MaxSchema = 1 << 20

// Schema is what answers are held against. It may be used by several
// goroutines at once.
type Schema struct {
	// Raw is the schema without insignificant space.
	Raw json.RawMessage
	// Hash is the SHA-256 of Raw, in hexadecimal.
	Hash     string
	resolved *jsonschema.Resolved
}

// Read reads a JSON Schema: draft 7 or 2020-12, an object, whose references lie
// within itself.
func Read(data []byte) (*Schema, error) {
	var s jsonschema.Schema
	if !strings.HasPrefix(strings.TrimSpace(string(data)), "{") {
		return nil, errors.New("is not a JSON object: write a JSON Schema such as {\"type\": \"object\", \"required\": [\"name\"]}")
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("is not a JSON Schema (%w): correct the file", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("is not a JSON Schema that stands alone (%w): correct the file, and put what it refers to under $defs", err)
	}
	var raw strings.Builder
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(json.RawMessage(data)); err != nil {
		return nil, fmt.Errorf("is not JSON (%w): correct the file", err)
	}
	text := strings.TrimSuffix(raw.String(), "\n")
	sum := sha256.Sum256([]byte(text))
	return &Schema{Raw: json.RawMessage(text), Hash: hex.EncodeToString(sum[:]), resolved: resolved}, nil
}

// Check returns what is wrong with an answer, nil if it is one JSON value that
// keeps the schema. The error may quote the answer, which is untrusted.
func (s *Schema) Check(answer string) error {
	decoder := json.NewDecoder(strings.NewReader(answer))
	var value any
	switch err := decoder.Decode(&value); {
	case errors.Is(err, io.EOF):
		return errors.New("the answer is empty and not JSON")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the answer is JSON that was cut")
	case err != nil:
		return fmt.Errorf("the answer is not JSON (%w)", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the answer has text after its JSON value")
	}
	if err := s.resolved.Validate(value); err != nil {
		return fmt.Errorf("the answer does not keep the schema (%w)", err)
	}
	return nil
}
