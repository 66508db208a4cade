package cases_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite/cases"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
)

var block = regexp.MustCompile("(?s)```(yaml|json)\n(.*?)```")

// TestDocumentation: what the documentation shows of this kind is read as it
// stands there.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	read := 0
	for _, name := range []string{"cases.md", "presets.md"} {
		text, err := os.ReadFile("../../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range block.FindAllStringSubmatch(string(text), -1) {
			switch {
			case b[1] == "json" && strings.Contains(b[2], `"user_input"`):
				file := "tiny-prefill.json"
				if strings.Contains(b[2], `"sub_cases"`) {
					file = "glm.json"
				}
				if _, err := casefile.Parse(file, []byte(b[2])); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			case b[1] == "yaml" && strings.Contains(b[2], "kind: cases"):
				file, err := config.Parse(name, []byte(b[2]))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := cases.FolderOf(&file.Suites[0], "."); err != nil {
					t.Error(err)
				}
			default:
				continue
			}
			read++
		}
	}
	if read < 2 {
		t.Errorf("the documentation has %d examples, want at least 2", read)
	}
}
