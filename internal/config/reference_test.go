package config

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestReferenceIsOfKeys: no description is left of a key that is gone. TestSchemaIsFreshInReference finds keys without one.
func TestReferenceIsOfKeys(t *testing.T) {
	data, err := json.Marshal(Schema(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	for of, keys := range reference {
		fields, _ := fieldsOf(of)
		for name, key := range keys {
			text, err := json.Marshal(links.Replace(key.Text))
			if err != nil {
				t.Fatal(err)
			}
			if fields[name] == nil && of.Name()+"."+name != "File.suites" || !strings.Contains(string(data), string(text)) {
				t.Errorf("%s has no key %q, or is not in the schema: remove its description", of, name)
			}
		}
	}
}
