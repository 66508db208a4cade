package config

import (
	"encoding/json"
	"regexp"
	"testing"
)

var description = regexp.MustCompile(`"description":"((?:[^"\\]|\\.)*)"`)

// TestReferenceIsOfKeys: no description is left of a key that is gone. TestSchemaIsFreshInReference finds keys without one.
func TestReferenceIsOfKeys(t *testing.T) {
	data, err := json.Marshal(Schema(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{} // a list for whose item a plain value may stand shows its keys twice
	for _, m := range description.FindAllSubmatch(data, -1) {
		shown[string(m[1])] = true
	}
	described := map[string]bool{}
	for _, keys := range reference {
		for _, k := range keys {
			described[k.Text] = true
		}
	}
	if len(shown) != len(described) {
		t.Errorf("%d keys are described, by %d descriptions: remove those of no key", len(shown), len(described))
	}
}
