package measure

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/reference/history"
)

// DefaultHistory is the folder of the history, inside that of the baselines.
const DefaultHistory = "history"

// HistoryPath is the path of the history of a host, whether it exists or not.
func (o *HostOptions) HistoryPath(file *config.File, label string) string {
	switch {
	case o.History != "":
		return history.Path(o.History, label)
	case file.Policy.History != "":
		return history.Path(file.Resolve(file.Policy.History), label)
	}
	return history.Path(filepath.Join(o.Reference(file).Folder(), DefaultHistory), label)
}

// Histories are the labels of the hosts that have a history, in the order of its files.
func (o *HostOptions) Histories(file *config.File) (labels []string, err error) {
	paths, err := filepath.Glob(o.HistoryPath(file, "*"))
	for _, path := range paths {
		if label, ok := history.Label(path); ok {
			labels = append(labels, label)
		}
	}
	return labels, err
}

// KeepRuns is how many of the newest runs of a host are kept.
func KeepRuns(file *config.File) int {
	if n := file.Policy.HistoryKeep; n != nil {
		return *n
	}
	return history.MaxRuns
}

// Kept reads the runs that were kept of a host. None are nothing, unless
// --history names a folder that does not exist; unreadable ones are an error, as
// with a baseline.
func (o *HostOptions) Kept(file *config.File, label string) (*history.File, error) {
	if o.OnBranch != nil {
		if f := o.OnBranch(label); f != nil {
			return f, nil
		}
	}
	if info, err := os.Stat(o.History); o.History != "" && (err != nil || !info.IsDir()) {
		return nil, exit.Usagef(
			"--history: %s is not a folder: correct the path, or record runs with 'accelgate history record --history %s RUN.json'",
			o.History, o.History)
	}
	kept, err := history.Load(o.HistoryPath(file, label))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return kept, err
}
