package setup

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// Limits on suites of kind exec: the first run takes less than a minute where benchmarks are small.
const (
	maxNames  = 12  // benchmarks of a suite that are measured; others are comments
	maxCells  = 24  // of all suites together, but for the first of each
	maxTime   = 1e9 // nanoseconds of one iteration of those
	maxListed = 200
	maxSuites = 6 // of one harness
	listLimit = 60 * time.Second
	maxResult = 64 << 20
)

// harness is a program that runs benchmarks.
type harness struct {
	name    string   // of the suite
	title   string   // "Go benchmarks in ./sorting"
	dir     string   // it starts there; "" for the root
	command []string // templates of kind exec
	format  string
	file    string   // its result in {output}; "" for standard output
	listing []string // runs each benchmark as briefly as it can; {output} is filled in
	guess   []string // names that its sources show, where listing fails
	slow    []string // names that listing found to take long
	build   string
	more    []string // further lines of the suite
}

// listed lists the benchmarks and writes the suite. It reports whether the harness ran.
func (r *repository) listed(ctx context.Context, h *harness) (s Suite, listed bool, err error) {
	names, why, err := r.names(ctx, h)
	if err != nil {
		return s, false, err
	}
	s = Suite{Name: h.name, Title: h.title, Build: h.build}
	if listed = len(names) > 0; !listed {
		names = h.guess
	}
	names = r.unused(names)
	if len(names) == 0 {
		s.Missing = "name benchmarks, because accelgate found none: " + why
		names = []string{"NAME"}
	} else {
		s.Title += " (" + text.Plural(len(names), "benchmark") + ")"
	}
	measured := min(max(len(names)-len(h.slow), 1), maxNames, max(maxCells-r.cells, 1))
	if r.cells += measured; measured < len(names) {
		s.Title = fmt.Sprintf("%s (%d of %d benchmarks, the others as comments)", h.title, measured, len(names))
	}
	s.Body = h.body(names, measured)
	return s, listed, nil
}

// unused leaves out names that another suite has, because a cell's id occurs once.
func (r *repository) unused(names []string) (left []string) {
	for _, name := range names {
		if usableName(name) && !slices.Contains(r.taken, name) {
			left = append(left, name)
			r.taken = append(r.taken, name)
		}
	}
	return left
}

// usableName reports whether a benchmark's name can be written and measured.
func usableName(name string) bool {
	return name != "" && len(name) <= 300 && utf8.ValidString(name) && !strings.Contains(name, "\x00")
}

// body writes the keys of kind exec, with the first names as benchmarks to measure.
func (h *harness) body(names []string, measured int) []string {
	lines := []string{"kind: exec"}
	if h.dir != "" && h.dir != "." {
		lines = append(lines, "dir: "+scalar(h.dir))
	}
	read := "read: " + h.format
	if h.file != "" {
		read = fmt.Sprintf("read: {format: %s, file: %s}", h.format, h.file)
	}
	lines = append(lines, "command: "+list(h.command...), read, "repeats: 3 # processes for each benchmark; more see smaller changes", "benchmarks:")
	for i, name := range names[:min(len(names), maxListed)] {
		if i < measured {
			lines = append(lines, "  - "+scalar(name))
		} else {
			lines = append(lines, "  # - "+scalar(name))
		}
	}
	return append(lines, h.more...)
}

// names are those of the benchmarks that the harness ran. Why says what kept it from listing them.
func (r *repository) names(ctx context.Context, h *harness) (names []string, why string, err error) {
	output, err := os.MkdirTemp("", "setup-")
	if err != nil {
		return nil, "", fmt.Errorf("make a folder for the program's result: %w: name another temporary folder with TMPDIR", err)
	}
	defer os.RemoveAll(output)
	args := slices.Clone(h.listing)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "{output}", output)
	}
	r.Note("list the benchmarks: " + text.OneLine(strings.Join(h.listing, " ")))
	response, err := r.worker.Do(ctx, worker.Request{Args: args, Dir: filepath.Join(r.Dir, filepath.FromSlash(h.dir)), Timeout: listLimit})
	if err != nil {
		return nil, "", err
	}
	if response.End == worker.NotStarted {
		return nil, text.OneLine(response.Reason()), nil
	}
	result := response.Stdout
	if h.file != "" {
		if result, err = resultIn(output, h.file); err != nil {
			return nil, text.OneLine(response.Reason()), nil
		}
	}
	found, err := formats.Harnesses[h.format](result)
	if err != nil {
		return nil, text.OneLine(err.Error()), nil
	}
	for _, b := range found {
		switch {
		case b.Failed != "":
		case slow(b):
			h.slow = append(h.slow, b.Name)
		default:
			names = append(names, b.Name)
		}
	}
	if names = append(names, h.slow...); len(names) == 0 {
		why = text.OneLine(response.Reason())
	}
	return names, why, nil
}

// slow reports a benchmark whose iteration takes long: the first run would take minutes.
func slow(b formats.Benchmark) bool {
	i := slices.IndexFunc(b.Values, func(v formats.Value) bool { return v.Metric == "time_ns" })
	return i >= 0 && b.Values[i].Value > maxTime
}

// resultIn reads the file that a harness wrote.
func resultIn(folder, name string) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxResult {
		return nil, fs.ErrInvalid
	}
	return root.ReadFile(name)
}
