package kernels

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats/nvtools"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// profiler is a tool that watches a worker while it calls a solution once.
type profiler struct {
	name string
	// command returns what stands before the worker's own command. The tool writes its
	// report to the file.
	command func(report string) []string
	// read takes a report apart, and says what is wrong with the solution.
	read func(report []byte) (found any, note, wrong string, err error)
}

var profilers = []profiler{
	{"ncu", func(report string) []string {
		return []string{
			"ncu",
			"--csv",
			"--page",
			"details",
			"--print-units",
			"base",
			"--target-processes",
			"all",
			"--clock-control",
			"none",
			"--section",
			"SpeedOfLight",
			"--section",
			"LaunchStats",
			"--section",
			"Occupancy",
			"--log-file",
			report,
		}
	}, readNCU},
	{"compute-sanitizer", func(report string) []string {
		return []string{
			"compute-sanitizer",
			"--tool",
			"memcheck",
			"--report-api-errors",
			"no",
			"--target-processes",
			"all",
			"--print-limit",
			"100",
			"--log-file",
			report,
		}
	}, readSanitizer},
}

// Profilers returns the names of the tools that a configuration may have watch solutions,
// ncu first.
func Profilers() (names []string) {
	for _, p := range profilers {
		names = append(names, p.name)
	}
	return names
}

func readNCU(report []byte) (found any, note, wrong string, err error) {
	n, err := nvtools.ReadNCU(report)
	if err == nil && n.Launches == 0 {
		note = "no kernel was profiled: see that the solution runs on a CUDA device"
		if len(n.Errors) > 0 {
			note = "no kernel was profiled: " + n.Errors[0]
		}
	}
	return n, note, "", err
}

func readSanitizer(report []byte) (found any, note, wrong string, err error) {
	s, err := nvtools.ReadSanitizer(report)
	switch {
	case err != nil:
	case s.Errors > 0:
		wrong = "compute-sanitizer memcheck: " + text.Plural(s.Errors, "error")
		if len(s.Findings) > 0 {
			wrong += fmt.Sprintf(", the first: %s at %s", s.Findings[0].Message, s.Findings[0].At)
		}
		wrong += ": correct the kernel's accesses to memory"
	case !s.Complete:
		err = errors.New("it has not summed up")
	}
	return s, "", wrong, err
}

// defaultProfile bounds a tool's run.
const defaultProfile = 10 * time.Minute

// profile has the tools of the configuration watch a solution that passed, each in a
// worker of its own, after all timing. An error of memory that one finds fails the
// case.
func (s *Suite) profile(ctx context.Context, l *lane, o *outcome, d bench.Device) error {
	if len(s.body.Profile) == 0 || o.status != evaluator.Passed {
		return nil
	}
	if err := l.end(solutionSide); err != nil {
		return err
	}
	for _, tool := range profilers {
		if !slices.Contains(s.body.Profile, tool.name) {
			continue
		}
		p, wrong, err := s.watch(ctx, l, o, d, tool)
		if err != nil {
			return err
		}
		o.profiles = append(o.profiles, p)
		if p.Note != "" {
			o.warnings = append(o.warnings, tool.name+": "+p.Note)
		}
		if wrong != "" && o.status == evaluator.Passed {
			o.status, o.reason = evaluator.RuntimeError, wrong
		}
	}
	return nil
}

// watch runs one tool.
func (s *Suite) watch(ctx context.Context, l *lane, o *outcome, d bench.Device,
	tool profiler) (p flashinfer.Profile, wrong string, err error) {
	p.Tool, p.State = tool.name, flashinfer.Unprofiled
	dir, err := os.MkdirTemp(s.dir, "profile-*")
	if err != nil {
		return p, "", fmt.Errorf("make a folder for %s: %w: free space, or name another temporary folder with TMPDIR", tool.name, err)
	}
	defer os.RemoveAll(dir)
	report := filepath.Join(dir, "report")
	limit := cmp.Or(s.body.Timeouts.Profile, defaultProfile)
	inner, cancel := context.WithTimeoutCause(ctx, limit, harness.ErrTooLong)
	defer cancel()
	ran := s.once(inner, l, o, d, tool.command(report), limit)
	var failure *harness.Failure
	switch {
	case ctx.Err() != nil:
		return p, "", ran
	case errors.Is(ran, worker.ErrNotFound):
		p.State, p.Note = flashinfer.ToolAbsent, "this host does not have it: install the CUDA toolkit, or take it out of profile"
		return p, "", nil
	case errors.Is(context.Cause(inner), harness.ErrTooLong):
		p.Note = fmt.Sprintf("it took more than %v: raise timeouts.profile", limit)
		return p, "", nil
	case ran != nil && !errors.As(ran, &failure) && !errors.As(ran, new(inputProblem)):
		return p, "", ran
	}
	found, note, wrong, err := tool.take(report)
	if err == nil {
		p.State, p.Note = flashinfer.Profiled, note
		p.Report, err = json.Marshal(found)
	}
	if err != nil {
		p.State, p.Note, wrong = flashinfer.Unprofiled, "it left no report: "+err.Error(), ""
	}
	if ran != nil { // an error of memory ends the worker, mostly
		p.Note = text.Clip(fmt.Sprintf("the worker failed under it (%v); %s", ran, p.Note), maxNote)
	}
	p.Note = s.hide(text.OneLine(p.Note))
	return p, wrong, nil
}

const maxNote = 1000

// take reads a report, bounded: the program that was watched could have written it.
func (t profiler) take(path string) (found any, note, wrong string, err error) {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not an ordinary file")
	}
	if err != nil {
		return nil, "", "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, "", "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, nvtools.MaxBytes+1))
	if err != nil {
		return nil, "", "", err
	}
	return t.read(data)
}

// once starts a worker under a tool and has it call the solution once, with the inputs
// that it was judged by.
func (s *Suite) once(ctx context.Context, l *lane, o *outcome, d bench.Device, under []string, limit time.Duration) error {
	c, err := s.kase(o.point)
	if err != nil {
		return err
	}
	c.Secret, c.Odd = o.secret, nil
	r := s.roleOf(o.point)
	if l.absent[r] != nil {
		r.kind = numpyWorker
	}
	req, hello, err := s.request(ctx, r, d)
	if err != nil {
		return err
	}
	req.Args = append(under, req.Args...)
	req.Env = append(req.Env, "LC_ALL=C") // numbers with points
	limits := harness.Limits{Start: limit, Build: limit, Load: limit, Run: limit, Time: limit, Silence: limit}
	session, err := harness.Open(ctx, &worker.Isolated{Environ: s.env.Environ}, req, hello, limits, s.env.Now)
	if err != nil {
		return err
	}
	build, err := s.buildOf(l, o.point)
	if err == nil {
		err = harness.Once(ctx, c, harness.Program{Session: session, Build: build}, s.outputs)
	}
	return errors.Join(err, session.Close())
}

// profiled reports whether a trace has what the configuration asks for.
func profiled(t *flashinfer.Trace, tools []string) bool {
	return !slices.ContainsFunc(tools, func(tool string) bool {
		g := t.Evaluation.Gate
		return g == nil ||
			!slices.ContainsFunc(g.Profiles, func(p flashinfer.Profile) bool { return p.Tool == tool && p.State == flashinfer.Profiled })
	})
}
