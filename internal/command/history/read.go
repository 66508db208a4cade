package history

import (
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/history"
)

// keptRuns reads runs, the oldest first. One that stands in a run document and in
// a history counts once, as the document, which says more.
func keptRuns(arguments []string) ([]*bench.Run, error) {
	paths, err := keptFiles(arguments)
	if err != nil {
		return nil, err
	}
	var runs, histories []*bench.Run
	for _, path := range paths {
		label, isHistory := history.Label(path)
		if !isHistory {
			run, err := measure.ReadRun(path)
			if err != nil {
				return nil, err
			}
			runs = append(runs, run)
			continue
		}
		file, err := history.Load(path)
		if err != nil {
			return nil, err
		}
		histories = append(histories, file.Runs(label)...)
	}
	runs = once(append(runs, histories...))
	slices.SortStableFunc(runs, func(a, b *bench.Run) int { return a.Started.Compare(b.Started) })
	return runs, nil
}

// once drops runs that are there already.
func once(runs []*bench.Run) (kept []*bench.Run) {
	type name struct {
		label, revision string
		started         int64
	}
	seen := map[name]bool{}
	for _, r := range runs {
		n := name{r.Host.Label, r.Revision, r.Started.UnixNano()}
		if !seen[n] || r.Started.IsZero() {
			kept = append(kept, r)
		}
		seen[n] = true
	}
	return kept
}

// keptFiles returns the files that arguments name; of a folder, every run document
// and history below it.
func keptFiles(arguments []string) (paths []string, err error) {
	for _, argument := range arguments {
		info, err := os.Stat(argument)
		if err != nil || !info.IsDir() {
			if filepath.Ext(argument) == ".jsonl" && !isHistory(argument) {
				return nil, exit.Usagef("%s does not state whose runs it keeps: name it %s", argument, history.Name("LABEL"))
			}
			paths = append(paths, argument) // reading it says what is wrong with it
			continue
		}
		if real, err := filepath.EvalSymlinks(argument); err == nil {
			argument = real // a link to a folder is not walked into
		}
		found, err := measure.FindFiles(argument, math.MaxInt, func(name string) bool { return name == "run.json" || isHistory(name) })
		if err != nil {
			return nil, exit.AsUsage(err)
		}
		if len(found) == 0 {
			return nil, exit.Usagef("%s: no run.json and no history below it: name the folder in which runs are kept", argument)
		}
		paths = append(paths, found...)
	}
	return paths, nil
}

func isHistory(name string) bool {
	_, ok := history.Label(name)
	return ok
}
