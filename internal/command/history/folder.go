package history

import (
	"os"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
)

// Folder is the folder of the history that the configuration names.
func Folder(o *measure.HostOptions) ([]string, error) {
	file, _, err := o.Read()
	if err != nil {
		return nil, exit.AsUsage(err)
	}
	folder := filepath.Dir(o.HistoryPath(file, "label"))
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return nil, exit.Usagef(
			"%s holds no history: record runs with 'accelgate history record .accelgate/run.json', or name run.json files", folder)
	}
	return []string{folder}, nil
}
