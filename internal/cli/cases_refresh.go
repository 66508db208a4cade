package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/msmodeling"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/suite/cases"
)

const refreshCasesHelp = `Write measured times and operators back to the case files. Only numbers change
(and the name of an operator where another one now stands): order, layout and
every other byte of a file stay. The reason is kept in history.jsonl beside them.

  accelgate cases refresh --reason "new attention kernel" --only 'qwen3-*'
  accelgate cases refresh --reason "new attention kernel" --from .accelgate/run.json

baseline_time_s and operators are renewed; initial_time_s, from which drift is
told, only with --initial. Cases that did not pass are never recorded.`

// caseRefresh is what cases refresh was asked for.
type caseRefresh struct {
	update
	initial, dryRun bool
}

func (c *Command) refreshCasesCommand(code *int) *cobra.Command {
	var r caseRefresh
	cmd := &cobra.Command{
		Use:   "refresh",
		Short: "Write measured times back to the case files",
		Long:  refreshCasesHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if strings.TrimSpace(r.reason) == "" {
				return usagef("accelgate cases refresh: a reason is required, because reviewers will ask for it: add --reason \"...\"")
			}
			*code, err = c.refreshCases(cmd.Context(), &r)
			return err
		},
	}
	f := cmd.Flags()
	r.addConfig(f)
	r.addHost(f)
	r.addPolicy(f)
	r.addMeasure(f)
	f.StringVar(&r.from, "from", "", "record this `run.json` in place of measuring")
	f.StringVar(&r.reason, "reason", "", "why the times move; kept in history.jsonl (required)")
	f.BoolVar(&r.initial, "initial", false, "renew initial_time_s as well, so that drift is told from here on")
	f.BoolVar(&r.force, "force", false, "record even though the gate failed; cases that did not pass are never recorded")
	f.BoolVar(&r.dryRun, "dry-run", false, "only print what would change")
	return cmd
}

func (c *Command) refreshCases(ctx context.Context, r *caseRefresh) (int, error) {
	if args := r.engineArgs(); len(args) > 0 {
		return 0, usagef("a run that is told to be slow or wrong (%s) cannot be recorded: leave that out", strings.Join(args, " "))
	}
	file, _, err := r.read()
	if err != nil {
		return 0, usageError{err}
	}
	if r.from == "" && len(r.suites) == 0 {
		r.suites = suitesOfCases(file)
	}
	run, ref, policy, err := c.updateRun(ctx, &r.update)
	if err != nil {
		return 0, err
	}
	if args, ok := run.Context[demonstration]; ok {
		return 0, usagef("the run was told to be slow or wrong (%s), so it cannot be recorded: measure without that", oneLine(args))
	}
	j := c.judge([]*bench.Run{run}, []reference{ref}, policy, report.Input{Config: r.config, Revision: run.Revision})
	if !r.force && j.decision.Status == gate.StatusFailed {
		fmt.Fprintf(c.Stderr, "accelgate: not recorded, because the gate failed; mend it, or add --force to record the cases that passed\n")
		return ExitGateFailed, c.render(c.Stdout, "terminal", j)
	}
	edits, err := c.editCases(file, []*bench.Run{run}, caseEdits{reason: r.reason, initial: r.initial, revision: run.Revision, only: r.only})
	if err != nil {
		return 0, err
	}
	if !r.dryRun {
		if err := edits.save(); err != nil {
			return 0, err
		}
	}
	return ExitPassed, c.tellEdits(edits, r.dryRun)
}

// suitesOfCases names the suites whose cases can be refreshed, so that nothing
// else is measured for it.
func suitesOfCases(file *config.File) (names []string) {
	for i := range file.Suites {
		if file.Suites[i].Kind == "cases" {
			names = append(names, file.Suites[i].Name)
		}
	}
	return names
}

// caseEdits are the edited case files of a refresh, with why.
type caseEdits struct {
	reason, revision string
	initial          bool
	only             []string // ids or globs; empty for all
	files            []caseFile
	left             []string // what was not refreshed, and why
}

// caseFile is one file of a refresh.
type caseFile struct {
	path    string
	data    []byte
	name    string // of the case; "" for the history
	host    string
	changes []msmodeling.Change
}

// save writes the files. The history of a folder comes before its cases: a
// refresh that is killed in the middle and done again tells a change twice
// rather than never.
func (e *caseEdits) save() error {
	for _, f := range e.files {
		if err := msmodeling.Save(f.path, f.data); err != nil {
			return err
		}
	}
	return nil
}

// tellEdits says what changed and what to do next.
func (c *Command) tellEdits(e *caseEdits, dryRun bool) error {
	n, numbers := 0, 0
	for _, f := range e.files {
		if f.name == "" {
			continue
		}
		n++
		numbers += len(f.changes)
		fmt.Fprintf(c.Stdout, "%s: %d values\n", printable(f.path), len(f.changes))
		for _, ch := range f.changes {
			fmt.Fprintf(c.Stdout, "  %s: %s -> %s\n", printable(ch.JSONPath), printable(ch.Old), printable(ch.New))
		}
	}
	c.warnAll(e.left)
	done, next := "refreshed", "review it with 'git diff', commit it, and judge with 'accelgate run'"
	if dryRun {
		done, next = "would be refreshed", "leave --dry-run out to write this"
	}
	if n == 0 {
		_, err := fmt.Fprintln(c.Stdout, "The case files already hold what was measured; nothing is to be refreshed.")
		return err
	}
	_, err := fmt.Fprintf(c.Stdout, "%d cases %s, %d values\nNext: %s\n", n, done, numbers, next)
	return err
}

// editCases edits the files of all cases that the runs measured and that
// passed. Nothing is written.
func (c *Command) editCases(file *config.File, runs []*bench.Run, e caseEdits) (*caseEdits, error) {
	for i := range file.Suites {
		s := &file.Suites[i]
		if s.Kind != "cases" {
			continue
		}
		folder, err := cases.FolderOf(s, file.Dir)
		if err != nil {
			return nil, err
		}
		if err := c.editFolder(&e, folder, e.measured(s.Name, folder, runs)); err != nil {
			return nil, err
		}
	}
	return &e, nil
}

// measurement is a passed result of a case, with its host.
type measurement struct {
	name, host string
	result     *bench.Result
	fresh      *msmodeling.Case // what to write if the case has no file; nil for a case that must have one
}

// measured lists what is to be recorded of a suite, by case. A case that
// several hosts measured is left alone: its file holds one host's numbers.
func (e *caseEdits) measured(suite string, folder cases.Folder, runs []*bench.Run) (list []measurement) {
	hosts := map[string][]string{}
	for _, run := range runs {
		for i := range run.Results {
			r := &run.Results[i]
			name, mine := cases.NameOf(r.Cell)
			if r.Cell.Suite != suite || !mine || r.Outcome != bench.Passed || folder.Host != "" && folder.Host != run.Host.Label || !e.wants(r.Cell) {
				continue
			}
			hosts[name] = append(hosts[name], run.Host.Label)
			list = append(list, measurement{name: name, host: run.Host.Label, result: r})
		}
	}
	slices.SortStableFunc(list, func(a, b measurement) int { return strings.Compare(a.name, b.name) })
	return slices.DeleteFunc(list, func(m measurement) bool {
		several := hosts[m.name]
		if len(several) > 1 && several[0] == m.host {
			e.left = append(e.left, fmt.Sprintf("%s was measured on %s and its file holds the times of one host: set host in suite %s to that host's label", m.name, strings.Join(several, ", "), suite))
		}
		return len(several) > 1
	})
}

func (e *caseEdits) wants(cell bench.Cell) bool {
	return len(e.only) == 0 || slices.ContainsFunc(e.only, func(pattern string) bool { return matrix.Glob(pattern, cell.ID()) })
}

// editFolder edits the files of one folder, and its history. Only cases that
// are there can be edited, whatever names a run brings.
func (c *Command) editFolder(e *caseEdits, folder cases.Folder, list []measurement) error {
	if len(list) == 0 {
		return nil
	}
	loaded, _ := msmodeling.Load(folder.Path) // an unreadable file has no passed result
	known := map[string]*msmodeling.Case{}
	for _, one := range loaded {
		known[one.Name] = one
	}
	var files []caseFile
	var records []msmodeling.Record
	for _, m := range list {
		one := cmp.Or(known[m.name], m.fresh)
		if one == nil {
			e.left = append(e.left, fmt.Sprintf("%s is not in %s any more: measure again", m.name, folder.Path))
			continue
		}
		f, err := e.edit(one, m)
		if err != nil {
			return err
		}
		if len(f.changes) == 0 {
			continue
		}
		files = append(files, f)
		records = append(records, msmodeling.Record{Time: c.Now().UTC(), Case: m.name, Reason: e.reason, Revision: e.revision,
			Tool: tool(), Host: m.host, Changes: f.changes})
	}
	if len(files) == 0 {
		return nil
	}
	history, err := e.history(folder.Path, records)
	e.files = append(append(e.files, history), files...)
	return err
}

// maxHistory bounds the record of refreshes; one of 100 cases takes 200 KB.
const maxHistory = 64 << 20

// history adds to the folder's record.
func (e *caseEdits) history(folder string, records []msmodeling.Record) (caseFile, error) {
	path := filepath.Join(folder, msmodeling.HistoryFile)
	old, err := readUpTo(path, maxHistory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return caseFile{}, fmt.Errorf("read the record of refreshes: %w: mend it, or move it away", err)
	}
	data, err := msmodeling.AppendHistory(old, records)
	if err != nil {
		return caseFile{}, fmt.Errorf("%s: %w", path, err)
	}
	return caseFile{path: path, data: data}, nil
}

// edit returns the case's file with the measured numbers.
func (e *caseEdits) edit(one *msmodeling.Case, m measurement) (f caseFile, err error) {
	f = caseFile{path: one.Path, name: m.name, host: m.host}
	data, err := readBounded(one.Path)
	if errors.Is(err, fs.ErrNotExist) && one == m.fresh {
		data, err = msmodeling.Marshal(one)
	}
	if err != nil {
		return f, err
	}
	f.data, f.changes, err = msmodeling.Edit(one.Path, data, cases.RefreshOf(one, m.result, e.initial))
	return f, err
}

// forReport says what changed in the words of the report.
func (f *caseFile) forReport(path string) report.CaseChanges {
	changes := report.CaseChanges{Path: path, Case: f.name, Host: f.host}
	for _, c := range f.changes {
		changes.Changes = append(changes.Changes, report.CaseChange{JSONPath: c.JSONPath, Old: c.Old, New: c.New})
	}
	return changes
}
