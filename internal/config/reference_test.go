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
	described := 0
	for _, keys := range reference {
		described += len(keys)
	}
	if n := strings.Count(string(data), `"description":`); n != described {
		t.Errorf("%d keys are described, by %d descriptions: remove those of no key", n, described)
	}
}
