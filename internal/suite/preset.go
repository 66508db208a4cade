package suite

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/text"
)

// Preset reads the body that ships with a kind under a name, from the files
// preset/NAME.yaml.
func Preset(c *config.Suite, files fs.FS, name string) (*config.Suite, error) {
	names := presetNames(files)
	data, err := fs.ReadFile(files, "preset/"+name+".yaml")
	if err != nil {
		near := ""
		if s := text.Nearest(name, names); s != "" {
			near = fmt.Sprintf(" (did you mean %s?)", s)
		}
		return nil, c.Errorf("preset", "unknown preset %q%s: use one of %s", name, near, strings.Join(names, ", "))
	}
	return config.Body("preset "+name, data)
}

func presetNames(files fs.FS) (names []string) {
	found, err := fs.Glob(files, "preset/*.yaml")
	if err != nil {
		return nil
	}
	for _, f := range found {
		names = append(names, strings.TrimSuffix(path.Base(f), ".yaml"))
	}
	slices.Sort(names)
	return names
}
