package measure

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/reference/waiver"
	"github.com/accelgate/accelgate/internal/text"
)

// unread warns of files beside the configuration whose names are nearly those of waivers and quarantined cells: what
// they accept blocks all the same.
func unread(file *config.File) (warnings []string) {
	reads := map[string]string{ // by the name that is looked for
		stem(waiver.FileName):       file.Resolve(cmp.Or(file.Policy.Waivers, waiver.FileName)),
		stem(waiver.QuarantineName): file.Resolve(cmp.Or(file.Policy.Quarantine, waiver.QuarantineName)),
	}
	names := slices.Sorted(maps.Keys(reads))
	entries, _ := os.ReadDir(file.Resolve("."))
	for _, e := range entries {
		ending := strings.ToLower(filepath.Ext(e.Name()))
		read, path := reads[text.Nearest(stem(e.Name()), names)], file.Resolve(e.Name())
		if read == "" || ending != ".yml" && ending != ".yaml" || slices.ContainsFunc(names, func(n string) bool { return same(path, reads[n]) }) {
			continue
		}
		fix := "move its entries there, and remove it"
		if !exists(read) {
			fix = "type mv " + text.ShellWord(filepath.ToSlash(path)) + " " + text.ShellWord(filepath.ToSlash(read))
		}
		warnings = append(warnings, fmt.Sprintf("%s is not read, and %s is: %s", text.OneLine(filepath.ToSlash(path)),
			text.OneLine(filepath.ToSlash(read)), fix))
	}
	return warnings
}

// stem is the name of a file without its ending, in lower case.
func stem(name string) string { return strings.ToLower(strings.TrimSuffix(name, filepath.Ext(name))) }

// same reports whether two names are of one file, as on file systems that ignore case.
func same(a, b string) bool {
	one, err := os.Lstat(a)
	other, missing := os.Lstat(b)
	return a == b || err == nil && missing == nil && os.SameFile(one, other)
}

// ungated warns of benchmarks of the repository that kinds in use could measure, and no suite does.
func (c *Config) ungated() (warnings []string) {
	for _, name := range slices.Sorted(maps.Keys(c.kinds)) {
		used := slices.ContainsFunc(c.File.Suites, func(s config.Suite) bool { return s.Kind == name })
		if find := c.kinds[name].Ungated; find != nil && used {
			warnings = append(warnings, find(c.File)...)
		}
	}
	return warnings
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
