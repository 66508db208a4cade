package judge

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// WritePage writes a report as an HTML page, and the cells that the page loads when they are needed to a folder beside it. It
// returns the path of the folder, or "" if the page holds every cell. hide removes secrets from both. A folder of
// that name that holds other files is a usage error.
func WritePage(path string, r report.Report, hide func(string) string) (folder string, err error) {
	folder = strings.TrimSuffix(path, filepath.Ext(path)) + "-cells"
	if err := ofCells(folder); err != nil {
		return "", err
	}
	var page bytes.Buffer
	err = atomicfile.Replace(folder, func(dir string) error { // before the page: with files of another report, a page says so
		write := func(name string, data []byte) error {
			return os.WriteFile(filepath.Join(dir, name), []byte(hide(string(data))), 0o644)
		}
		return report.HTMLWith(report.Files{Folder: filepath.Base(folder), Write: write})(&page, r)
	})
	if err != nil {
		return "", atomicfile.Elsewhere(err, "--out")
	}
	kept := folder
	if os.Remove(folder) == nil { // which fails where it is not empty
		kept = ""
	}
	return kept, atomicfile.Elsewhere(atomicfile.Write(path, []byte(hide(page.String()))), "--out")
}

var cellFile = lazyregexp.New(`^(lines|cells)-[0-9]+\.js$`)

// ofCells refuses a folder that holds other files than a report writes.
func ofCells(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !os.IsNotExist(err) {
		return exit.AsUsage(fmt.Errorf("%w: name another file", err))
	}
	for _, e := range entries {
		if !cellFile.MatchString(e.Name()) {
			return exit.Usagef("%s holds %s, which accelgate report did not write: name another file", folder, text.OneLine(e.Name()))
		}
	}
	return nil
}
