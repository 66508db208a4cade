package cases

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
)

// Folder is a suite's folder of case files.
type Folder struct {
	Path string
	// Host is the label of the host that the recorded times are of; "" for any.
	Host string
	// References names the recorded times that the suite judges by, each at
	// most once: "initial", "baseline". Empty stands for both.
	References []string
}

// FolderOf returns the folder of a suite's case files; dir is the
// configuration's. It need not exist.
func FolderOf(c *config.Suite, dir string) (Folder, error) {
	b, err := load(c)
	if err != nil {
		return Folder{}, err
	}
	if err := b.checkFolder(c); err != nil {
		return Folder{}, err
	}
	return Folder{Path: resolve(dir, b.Cases), Host: b.Host, References: b.References}, nil
}

func files(c *config.Suite, dir string) ([]string, error) {
	folder, err := FolderOf(c, dir)
	return []string{folder.Path}, err
}

func (b *body) checkFolder(c *config.Suite) error {
	if b.Cases == "" {
		return c.Errorf("cases", "the suite has no folder of cases: add cases, the folder that holds the *.json files")
	}
	return nil
}

// checkDir refuses a folder to start in that is not there: else every cell would
// fail with it.
func (b *body) checkDir(c *config.Suite, dir string) error {
	if info, err := os.Stat(resolve(dir, b.Dir)); b.Dir != "" && (err != nil || !info.IsDir()) {
		return c.Errorf("dir", "there is no folder %s for programs to start in: correct dir, or create the folder", resolve(dir, b.Dir))
	}
	return nil
}

// resolve returns the path relative to the configuration's folder.
func resolve(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// load reads the folder of cases. The problems are of files that could not be
// read, one entry for each; an error means that there is no folder of cases.
func (b *body) load(c *config.Suite, dir string) (list []*casefile.Case, unreadable []casefile.Problems, err error) {
	if err := b.checkFolder(c); err != nil {
		return nil, nil, err
	}
	list, err = casefile.Load(resolve(dir, b.Cases))
	if err == nil {
		return list, nil, nil
	}
	files, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil, nil, c.Errorf("cases", "%v", err)
	}
	for _, err := range files.Unwrap() {
		var problems casefile.Problems
		if !errors.As(err, &problems) {
			return nil, nil, c.Errorf("cases", "%v", err)
		}
		unreadable = append(unreadable, problems)
	}
	return list, unreadable, nil
}

// read makes inputs of all files, in the order of their names. A file that
// cannot be read becomes one that fails with what is wrong with it.
func (b *body) read(c *config.Suite, dir string) ([]*input, error) {
	list, unreadable, err := b.load(c, dir)
	if err != nil {
		return nil, err
	}
	inputs := make([]*input, 0, len(list)+len(unreadable))
	for _, one := range list {
		inputs = append(inputs, newInput(one, b.named(one.Path)))
	}
	for _, problems := range unreadable {
		name := strings.TrimSuffix(filepath.Base(problems[0].File), ".json")
		inputs = append(inputs, &input{cell: Cell(name), name: name, file: b.named(problems[0].File), problem: b.complaint(problems)})
	}
	slices.SortStableFunc(inputs, func(a, b *input) int { return strings.Compare(a.file, b.file) })
	return inputs, nil
}

// named is a case's file as the configuration has it: reports hold no paths of
// a machine.
func (b *body) named(path string) string {
	return filepath.ToSlash(filepath.Join(b.Cases, filepath.Base(path)))
}

// complaints lists the first problems of several files.
func (b *body) complaints(files []casefile.Problems) string {
	const maximum = 10
	lines := []string{fmt.Sprintf("files that cannot be read: %d; correct them", len(files))}
	for _, problems := range files[:min(len(files), maximum)] {
		lines = append(lines, b.complaint(problems))
	}
	return strings.Join(lines, "\n")
}

// complaint lists the first problems of a file.
func (b *body) complaint(problems casefile.Problems) string {
	const maximum = 10
	var lines []string
	for _, p := range problems[:min(len(problems), maximum)] {
		p.File = b.named(p.File)
		lines = append(lines, p.Error())
	}
	if more := len(problems) - maximum; more > 0 {
		lines = append(lines, fmt.Sprintf("%d more: see them with 'accelgate cases lint %s'", more, b.Cases))
	}
	return strings.Join(lines, "\n")
}

// cannotRun is the warning about cells that fail without being run.
func cannotRun(names []string, first string) string {
	const maximum = 10
	list := strings.Join(names[:min(len(names), maximum)], ", ")
	if len(names) > maximum {
		list += fmt.Sprintf(" and %d more", len(names)-maximum)
	}
	return fmt.Sprintf("cases that cannot be run and will fail: %d (%s); the first: %s", len(names), list, first)
}

func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
