package archtest

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTroubleshootingQuotesMessages: the messages that docs/troubleshooting.md explains are those of the programs.
func TestTroubleshootingQuotesMessages(t *testing.T) {
	var messages strings.Builder
	for name, strs := range proses(t, 0) {
		if filepath.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") {
			messages.WriteString(strs)
		}
	}
	quotes := regexp.MustCompile("(?m)^### `(.+)`$").FindAllStringSubmatch(content(t, "docs/troubleshooting.md"), -1)
	for _, quote := range quotes {
		if !strings.Contains(messages.String(), quote[1]) {
			t.Errorf("docs/troubleshooting.md explains %q, which no program prints", quote[1])
		}
	}
	if len(quotes) < 10 {
		t.Errorf("%d messages are explained, want 10 or more", len(quotes))
	}
}
