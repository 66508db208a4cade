package measure

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/formats/inferencebench"
	"github.com/accelgate/accelgate/internal/suite"
)

const runFile = "run.json"

// RunFiles returns the files that arguments name; of a folder, every run.json
// below it.
func RunFiles(arguments []string) (paths []string, err error) {
	return filesBelow(arguments, func(name string) bool { return name == runFile })
}

// filesBelow returns the files that arguments name; of a folder, those below it with wanted names.
func filesBelow(arguments []string, wanted func(name string) bool) (paths []string, err error) {
	for _, argument := range arguments {
		info, err := os.Stat(argument)
		if err != nil || !info.IsDir() {
			paths = append(paths, argument) // reading it says what is wrong with it
			continue
		}
		if real, err := filepath.EvalSymlinks(argument); err == nil {
			argument = real // a link to a folder is not walked into
		}
		found, err := FindFiles(argument, math.MaxInt, wanted)
		if err == nil && len(found) == 0 {
			err = errors.New("no run.json below it: name the folder in which runs are kept")
		}
		if err != nil {
			return nil, exit.Usagef("%s: %w", argument, err)
		}
		paths = append(paths, found...)
	}
	return paths, nil
}

// FindRuns lists the run.json files below dir, at most so many, sorted.
func FindRuns(dir string, maximum int) ([]string, error) {
	return FindFiles(dir, maximum, func(name string) bool { return name == runFile })
}

// FindFiles lists the files below dir with certain names, at most so many,
// sorted. Links are not followed: the folder may come from artifacts.
func FindFiles(dir string, maximum int, wanted func(name string) bool) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type().IsRegular() && wanted(d.Name()) {
			paths = append(paths, path)
		}
		if len(paths) > maximum {
			return fmt.Errorf("holds more than %d run.json files: give the folder of one workflow run", maximum)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no job delivered anything, so nothing was downloaded
	}
	if err != nil {
		return nil, fmt.Errorf("read runs %s: %w", dir, err)
	}
	slices.Sort(paths)
	return paths, nil
}

// ReadRun reads one run document from anywhere.
func ReadRun(path string) (*bench.Run, error) { return new(HostOptions).ReadRun(path) }

// ReadRun reads a run without the secret, which whoever measured may have got
// hold of.
func (o *HostOptions) ReadRun(path string) (*bench.Run, error) {
	data, err := suite.ReadResult(path, path, bench.MaxRunBytes)
	if err != nil {
		return nil, exit.Usagef("read the run: %w; 'accelgate run' writes one to .accelgate/run.json", err)
	}
	if len(o.Secret) >= minSecret {
		data = bytes.ReplaceAll(data, []byte(o.Secret), []byte("***"))
	}
	run, err := bench.DecodeRun(data)
	if err != nil && inferencebench.IsEnvelope(data) {
		return nil, exit.Usagef("%s is an envelope: make a run of it with 'accelgate import %s --host-label LABEL'", path, path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; measure again with 'accelgate run'", path, err)
	}
	if err := bench.CheckLabel(run.Host.Label); err != nil {
		return nil, fmt.Errorf("%s: %w in host.label, or measure again with 'accelgate run'", path, err)
	}
	return run, nil
}
