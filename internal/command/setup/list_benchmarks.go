package setup

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

const (
	maxTime   = 1e9              // nanoseconds of one iteration of a benchmark that the first run measures
	maxSuites = 20               // of one harness
	listLimit = 15 * time.Minute // with the time that it takes to compile them
	maxResult = 64 << 20
)

// harness is a program that runs benchmarks.
type harness struct {
	name    string   // of the suite
	title   string   // "Go benchmarks in ./sorting"
	dir     string   // it starts there; "" for the root
	build   string   // shell command that builds it in the workflow; "" if there is nothing to build
	program string   // that compile builds; "" if there is nothing to build
	compile []string // builds it in dir
	command []string // templates of kind exec
	format  string
	file    string   // its result in {output}; "" for standard output
	list    []string // templates of kind exec; runs each benchmark as briefly as it can
	guess   []string // names that its sources show, where listing fails
	more    []string // further lines of the suite
}

// omitted is a benchmark that is not measured, and why.
type omitted struct{ name, why string }

// listed lists the benchmarks and writes the suite, which measures what the harness reports.
// It reports whether the harness has benchmarks.
func (r *repository) listed(ctx context.Context, h *harness) (s Suite, listed bool, err error) {
	found, why, err := r.benchmarks(ctx, h)
	if err != nil {
		return s, false, err
	}
	measured, excluded, skipped := choose(found.Benchmarks)
	n := len(found.Benchmarks)
	s = Suite{Name: h.name, Title: h.title, Build: h.build, Body: h.body(excluded)}
	switch {
	case n == 0 && len(h.guess) > 0:
		s.Title += " (" + text.Plural(len(h.guess), "benchmark") + ")"
		s.Missing = "correct what keeps it from running: " + why
	case n == 0:
		s.Missing = "install what it needs or write benchmarks, because none was listed: " + why
	case !found.Whole:
		s.Missing = "correct " + cmp.Or(found.CutAt(), "its benchmarks") + ", which ends the program before others run: " + why
	case len(measured) == 0:
		s.Missing = "correct one of its benchmarks, because none can be measured: " + text.Line(found.Benchmarks[0].Failed, maxReason)
	default:
		s.Title += " (" + counted(len(measured), n) + ")"
	}
	for _, o := range slices.Concat(skipped, excluded, h.unbuilt(found)) {
		s.Notes = append(s.Notes, "not measured: "+o.name+": "+o.why)
	}
	return s, n > 0, nil
}

// unbuilt are benchmarks of the sources that the program does not have.
func (h *harness) unbuilt(found formats.Listing) (all []omitted) {
	for _, name := range h.guess {
		listed := func(b formats.Benchmark) bool { return b.Name == name || strings.HasPrefix(b.Name, name+"/") }
		if h.program != "" && found.Whole && !slices.ContainsFunc(found.Benchmarks, listed) {
			all = append(all, omitted{name, "not built here: if its file has build constraints, add -tags to build"})
		}
	}
	return all
}

// counted is how many benchmarks of those found are measured.
func counted(measured, found int) string {
	if measured == found {
		return text.Plural(found, "benchmark")
	}
	return fmt.Sprintf("%d of %s", measured, text.Plural(found, "benchmark"))
}

// choose returns which benchmarks the first run measures, which the configuration leaves out, and
// which skip themselves. Those that fail or take long would keep it from passing soon.
func choose(found []formats.Benchmark) (measured []string, excluded, skipped []omitted) {
	var slow []omitted
	for _, b := range found {
		switch t := duration(b); {
		case !usableName(b.Name):
		case b.Skipped:
			skipped = append(skipped, omitted{b.Name, text.Line(b.Failed, maxReason)})
		case b.Failed != "":
			excluded = append(excluded, omitted{b.Name, "fails: " + text.Line(b.Failed, maxReason)})
		case t > maxTime:
			slow = append(slow, omitted{b.Name, fmt.Sprintf("takes %.1f s", t/1e9)})
		default:
			measured = append(measured, b.Name)
		}
	}
	if len(measured) == 0 && len(slow) > 0 {
		measured, slow = []string{slow[0].name}, slow[1:]
	}
	return measured, append(excluded, slow...), skipped
}

const maxReason = 200

// usableName reports whether a benchmark's name can be written and measured.
func usableName(name string) bool {
	return name != "" && len(name) <= 300 && utf8.ValidString(name) && !strings.Contains(name, "\x00")
}

// body writes the keys of kind exec.
func (h *harness) body(excluded []omitted) []string {
	lines := []string{"kind: exec"}
	if h.dir != "" && h.dir != "." {
		lines = append(lines, "dir: "+scalar(h.dir))
	}
	if h.program != "" {
		lines = append(lines, "build: {command: "+list(h.compile...)+", dir: "+scalar(cmp.Or(h.dir, "."))+"}")
	}
	read := "read: " + h.format
	if h.file != "" {
		read = fmt.Sprintf("read: {format: %s, file: %s}", h.format, h.file)
	}
	lines = append(lines, "command: "+list(h.command...), "list: "+list(h.list...)+" # runs each benchmark briefly", read,
		"repeats: 3 # processes for each benchmark; more see smaller changes", "benchmarks: all # new ones too; or a list of names")
	if len(excluded) > 0 {
		lines = append(lines, "exclude:")
	}
	for _, o := range excluded {
		lines = append(lines, "  - "+scalar(o.name)+" # "+text.Line(o.why, maxReason))
	}
	return append(lines, h.more...)
}

// benchmarks are those that the harness ran. Why says what kept it from listing all of them.
func (r *repository) benchmarks(ctx context.Context, h *harness) (found formats.Listing, why string, err error) {
	output, err := os.MkdirTemp("", "setup-")
	if err != nil {
		return found, "", fmt.Errorf("make a folder for the program's result: %w: name another temporary folder with TMPDIR", err)
	}
	defer os.RemoveAll(output)
	if h.program != "" {
		if response, err := r.harness(ctx, h, h.compile, output); err != nil || !response.OK() {
			return found, reason(response), err
		}
	}
	response, err := r.harness(ctx, h, h.list, output)
	if err != nil {
		return found, "", err
	}
	why = reason(response)
	if response.End == worker.NotStarted {
		return found, why, nil
	}
	result := response.Stdout
	if h.file != "" {
		if result, err = resultIn(output, h.file); err != nil {
			result = nil
		}
	}
	if found, err = formats.List(h.format, result, response.Stdout, response.ExitCode); err != nil {
		why = text.OneLine(err.Error())
	}
	return found, why, nil
}

// harness runs a command of the harness in a temporary folder, where its program is, too: the repository stays as it is.
func (r *repository) harness(ctx context.Context, h *harness, command []string, output string) (worker.Response, error) {
	r.Note("list the benchmarks: " + text.OneLine(strings.Join(command, " ")))
	args := slices.Clone(command)
	for i := range args {
		if args[i] = strings.ReplaceAll(args[i], "{output}", output); args[i] == h.program && h.program != "" {
			args[i] = filepath.Join(output, path.Base(h.program))
		}
	}
	return r.worker.Do(ctx, worker.Request{Args: args, Dir: filepath.Join(r.Dir, filepath.FromSlash(h.dir)), Timeout: listLimit})
}

// reason is how the harness ended, with the line of its output that names a cause.
func reason(response worker.Response) string {
	why := text.OneLine(response.Reason())
	if line := text.Meaningful(strings.Split(response.Log, "\n")); line != "" && response.End != worker.NotStarted {
		why += ": " + text.Line(line, maxReason)
	}
	return why
}

// duration is how many nanoseconds an iteration takes; 0 if that is not known.
func duration(b formats.Benchmark) float64 {
	i := slices.IndexFunc(b.Values, func(v formats.Value) bool { return v.Metric == "time_ns" })
	if i < 0 {
		return 0
	}
	return b.Values[i].Value
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
