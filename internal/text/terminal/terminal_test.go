package terminal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/accelgate/accelgate/internal/text/terminal"
)

func TestOf(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		env  map[string]string
		want terminal.Terminal
	}{
		{nil, terminal.Terminal{}},
		{map[string]string{"FORCE_COLOR": "1"}, terminal.Terminal{Color: true}},
		{map[string]string{"FORCE_COLOR": "0"}, terminal.Terminal{}},
		{map[string]string{"FORCE_COLOR": "1", "NO_COLOR": "1"}, terminal.Terminal{}},
		{map[string]string{"COLUMNS": "72"}, terminal.Terminal{Columns: 72}},
		{map[string]string{"COLUMNS": "-1", "TERM_PROGRAM": "WezTerm"}, terminal.Terminal{}},
		{map[string]string{"FORCE_HYPERLINK": "1"}, terminal.Terminal{Links: true}},
	} {
		for _, w := range []interface{ Write([]byte) (int, error) }{file, &bytes.Buffer{}} {
			if got := terminal.Of(w, func(name string) string { return c.env[name] }); got != c.want {
				t.Errorf("%v: %+v, want %+v", c.env, got, c.want)
			}
		}
	}
}
