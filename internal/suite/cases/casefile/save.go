package casefile

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/accelgate/accelgate/internal/atomicfile"
)

// Save replaces a case file, or the history, as a whole or not at all. A file
// that exists keeps its permissions. Links are refused, as [Load] refuses
// them.
func Save(path string, data []byte) error {
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("write %s: it is a link, which is not followed: put the file itself there", plain(path))
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("write %s: it is not a file: move it out of the folder of cases", plain(path))
	}
	return atomicfile.Write(path, data)
}
