package measure

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/reference/waiver"
	"github.com/accelgate/accelgate/internal/text"
)

// unread warns of files of waivers and quarantined cells whose names are not those that are
// read: what they accept blocks all the same.
func unread(file *config.File) (warnings []string) {
	for _, names := range [][2]string{{waiver.FileName, file.Policy.Waivers}, {waiver.QuarantineName, file.Policy.Quarantine}} {
		read := file.Resolve(cmp.Or(names[1], names[0]))
		for _, ending := range []string{".yml", ".yaml"} {
			path := file.Resolve(strings.TrimSuffix(names[0], ".yml") + ending)
			if path == read || !exists(path) {
				continue
			}
			fix := "move its entries there, and remove it"
			if !exists(read) {
				fix = "type mv " + text.ShellWord(filepath.ToSlash(path)) + " " + text.ShellWord(filepath.ToSlash(read))
			}
			warnings = append(warnings, fmt.Sprintf("%s is not read, and %s is: %s", filepath.ToSlash(path), filepath.ToSlash(read), fix))
		}
	}
	return warnings
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
