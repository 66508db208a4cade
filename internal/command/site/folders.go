package site

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
)

// Folders are the configuration's folder of baselines, and that of the history where it is another.
func Folders(e *measure.Env, o *measure.HostOptions) ([]string, error) {
	file, _, err := e.Load(&measure.Options{HostOptions: *o})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit.Usagef("%w; or name the folder of histories, as in 'accelgate site --out public baselines'", err)
	}
	if err != nil {
		return nil, err
	}
	candidates := []string{o.Reference(file).Folder()}
	if kept := filepath.Dir(o.HistoryPath(file, "x")); filepath.Dir(kept) != filepath.Clean(candidates[0]) {
		candidates = append(candidates, kept)
	}
	var folders []string
	for _, folder := range candidates {
		if _, err := os.Stat(folder); err == nil {
			folders = append(folders, folder)
		}
	}
	if len(folders) == 0 {
		return nil, exit.Usagef("no history: %s is not there: record runs with 'accelgate history record RUN.json'",
			strings.Join(candidates, " or "))
	}
	return folders, nil
}
