package measure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/reference"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/text"
)

// leftBehind warns of baselines from before the configuration had its name, which it does
// not read. Once it has a folder of its own, nothing is missing.
func (o *HostOptions) leftBehind(file *config.File) []string {
	if file.Name == "" || file.Baselines.Path != "" || o.Baseline != "" || o.Reference(file).Remote() || o.Reference(file).FromHistory() {
		return nil
	}
	if _, err := os.Lstat(o.Reference(file).Folder()); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	before := file.Resolve(reference.DefaultFolder)
	found, _ := filepath.Glob(baseline.Path(before, "*"))
	if len(found) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s not read, because the configuration has the name %s: move them to %s, or write baselines: %s",
		text.Plural(len(found), "baseline")+" in "+filepath.ToSlash(before), file.Name, filepath.ToSlash(o.Reference(file).Folder()),
		reference.DefaultFolder)}
}
