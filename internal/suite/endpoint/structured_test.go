package endpoint

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSchemaIsSent whole, as servers want it.
func TestSchemaIsSent(t *testing.T) {
	t.Parallel()
	bodies, r := overheard(t, "/v1/chat/completions", "request: {max_tokens: 2, json_schema: person.schema.json}\nload: {concurrency: [1], requests: 3, warmup: {duration: 0s}}")
	var got struct {
		Format struct {
			Type   string
			Schema struct {
				Name   string
				Strict bool
				Schema json.RawMessage
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(bodies[0], &got); err != nil {
		t.Fatal(err)
	}
	f := got.Format
	if f.Type != "json_schema" || f.Schema.Name == "" || !f.Schema.Strict || !strings.HasPrefix(string(f.Schema.Schema), `{"type":"object","properties":{"name"`) {
		t.Errorf("sent %s", bodies[0])
	}
	if r.Counts["invalid_output"] != 3 || len(r.Conditions["json_schema"]) != 64 {
		t.Errorf("counts %v, conditions %v", r.Counts, r.Context)
	}
}

func TestSchemasThatAreRefused(t *testing.T) {
	t.Parallel()
	e := env(t)
	e.Dir = t.TempDir()
	for name, text := range map[string]string{"list.json": "[]", "odd.json": `{"type": "objekt", "pattern": "("}`, "fine.json": "{}"} {
		if err := os.WriteFile(filepath.Join(e.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for keys, want := range map[string]string{
		"json_schema: fine.json":                   "",
		"json_schema: list.json":                   `"list.json" is not a JSON object`,
		"json_schema: odd.json":                    `"odd.json" is not a JSON Schema`,
		"json_schema: none.json":                   "name a file of a JSON Schema",
		"json_schema: .":                           "is not a regular file",
		"json_schema: fine.json, api: completions": "set request.api: chat",
		"json_schema: fine.json, extra: {response_format: '{\"type\": 1}'}": "remove one of the two",
	} {
		_, err := openBody(t, "x.yaml", "base_url: http://127.0.0.1:9\nrequest: {"+keys+"}\nload: {concurrency: [1], requests: 1}", e)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", keys, err, want)
		}
	}
}
