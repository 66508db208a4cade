package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/reference/history"
)

// defaultHistory is the folder of the history, inside that of the baselines.
const defaultHistory = "history"

// historyPath returns the path of a host's history, whether it exists or not.
func (o *options) historyPath(file *config.File, label string) string {
	switch {
	case o.history != "":
		return history.Path(o.history, label)
	case file.Policy.History != "":
		return history.Path(file.Resolve(file.Policy.History), label)
	}
	return history.Path(filepath.Join(o.baselines(file), defaultHistory), label)
}

// keepRuns is how many of the newest runs of a host are kept.
func keepRuns(file *config.File) int {
	if n := file.Policy.HistoryKeep; n != nil {
		return *n
	}
	return history.MaxRuns
}

// kept reads the runs that were kept of a host. None are nothing, unless
// --history names a folder that does not exist; unreadable ones are an error, as
// with a baseline.
func (o *options) kept(file *config.File, label string) (*history.File, error) {
	if o.onBranch != nil {
		if f := o.onBranch(label); f != nil {
			return f, nil
		}
	}
	if info, err := os.Stat(o.history); o.history != "" && (err != nil || !info.IsDir()) {
		return nil, usagef("--history: %s is not a folder: correct the path, or record runs with 'accelgate history record --history %s RUN.json'", o.history, o.history)
	}
	kept, err := history.Load(o.historyPath(file, label))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return kept, err
}
