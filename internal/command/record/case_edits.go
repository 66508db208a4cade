package record

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/cases"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
	"github.com/accelgate/accelgate/internal/text"
)

// CaseEdits are the edited case files of a refresh, with why. Commands and the
// action share them; nothing is written before save.
type CaseEdits struct {
	Reason, Revision string
	Initial          bool         // renew initial times, too
	Policy           *gate.Policy // says which changes are implausible; nil records those, too
	Suites, Only     []string     // names, and ids or globs; empty for all
	MinMove          float64      // share of its tolerance that a baseline time must have moved by, in percent; 0 is none
	Files            []caseFile
	Left             []string // what was not refreshed, and why
	Matched          int      // results that only and suites choose
	Still            int      // cases that moved by less than MinMove
}

// caseFile is one file of a refresh.
type caseFile struct {
	Path    string
	Data    []byte
	Name    string // of the case; "" for the history
	host    string
	changes []casefile.Change
}

// Measurement is a result that is to be recorded in a case's file.
type Measurement struct {
	Name, Host string
	Result     *bench.Result
	Fresh      *casefile.Case // what to write if the case has no file; nil for a case that must have one
}

// Leave notes why a case is not refreshed.
func (e *CaseEdits) Leave(format string, args ...any) {
	e.Left = append(e.Left, fmt.Sprintf(format, args...))
}

// EditCases edits the files of all cases that the runs measured and that
// passed.
func EditCases(env *measure.Env, file *config.File, runs []*bench.Run, e CaseEdits) (*CaseEdits, error) {
	e.MinMove = float64(file.Baselines.MinMove)
	for i := range file.Suites {
		s := &file.Suites[i]
		if s.Kind != "cases" || len(e.Suites) > 0 && !slices.Contains(e.Suites, s.Name) {
			continue
		}
		folder, err := cases.FolderOf(s, file.Dir)
		if err != nil {
			return nil, err
		}
		if err := EditFolder(env, &e, folder, e.measured(s.Name, folder, runs)); err != nil {
			return nil, err
		}
	}
	return &e, nil
}

// measured lists what is to be recorded of a suite, by case. A case that
// several hosts measured is left alone: its file holds one host's numbers.
func (e *CaseEdits) measured(suite string, folder cases.Folder, runs []*bench.Run) (list []Measurement) {
	hosts := map[string][]string{}
	for _, run := range runs {
		for i := range run.Results {
			r := &run.Results[i]
			name, mine := cases.NameOf(r.Cell)
			if r.Cell.Suite != suite || !mine || !e.wants(r.Cell) {
				continue
			}
			e.Matched++
			switch host := run.Host.Label; {
			case r.Outcome != bench.Passed:
				e.Leave("%s is not recorded, because it did not pass (%s): fix it first", text.OneLine(name), text.OneLine(r.Reason))
			case folder.Host != "" && folder.Host != host:
				e.Leave("%s is not recorded, because its file holds the times of host %s and this is %s: measure there", text.OneLine(name),
					folder.Host, host)
			default:
				hosts[name] = append(hosts[name], host)
				list = append(list, Measurement{Name: name, Host: host, Result: r})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Measurement) int { return strings.Compare(a.Name, b.Name) })
	return slices.DeleteFunc(list, func(m Measurement) bool {
		several := hosts[m.Name]
		if len(several) > 1 && several[0] == m.Host {
			e.Leave("%s was measured on %s and its file holds the times of one host: set host in suite %s to that host's label",
				text.OneLine(m.Name), strings.Join(several, ", "), suite)
		}
		return len(several) > 1
	})
}

func (e *CaseEdits) wants(cell bench.Cell) bool {
	return len(e.Only) == 0 || matrix.GlobAny(e.Only, cell.ID())
}

// EditFolder edits the files of one folder, and its history. Only cases that
// are there can be edited, whatever names a run brings.
func EditFolder(env *measure.Env, e *CaseEdits, folder cases.Folder, list []Measurement) error {
	if len(list) == 0 {
		return nil
	}
	loaded, _ := casefile.Load(folder.Path) // an unreadable file has no passed result
	known := map[string]*casefile.Case{}
	for _, one := range loaded {
		known[cases.CellOf(one).ID()] = one
	}
	var files []caseFile
	var records []casefile.Record
	edited := map[string][]byte{} // by path: the cases of a group share a file
	for _, m := range list {
		f, ok, err := e.edit(folder, known[m.Name], m, edited)
		if err != nil {
			return err
		}
		if !ok || len(f.changes) == 0 {
			continue
		}
		edited[f.Path] = f.Data
		files = append(files, f)
		records = append(records, casefile.Record{Time: env.Now().UTC(), Case: m.Name, Reason: e.Reason, Revision: e.Revision,
			Tool: measure.Tool(), Host: m.Host, Changes: f.changes})
	}
	if len(files) == 0 {
		return nil
	}
	for i := range files {
		files[i].Data = edited[files[i].Path]
	}
	history, err := refreshes(folder.Path, records)
	e.Files = append(append(e.Files, history), files...)
	return err
}

// edit returns the case's file with the measured numbers; ok is false where it
// is left alone.
//
// edited holds the files that were edited before, by path.
func (e *CaseEdits) edit(folder cases.Folder, known *casefile.Case, m Measurement,
	edited map[string][]byte) (f caseFile, ok bool, err error) {
	one := cmp.Or(known, m.Fresh)
	if one == nil {
		e.Leave("%s is not a case in %s: a run of another checkout cannot be recorded here", text.OneLine(m.Name), folder.Path)
		return f, false, nil
	}
	if known != nil && m.Fresh != nil && !sameWorkload(known, m.Fresh) {
		e.Leave("%s is not recorded, because the case of this name measures another input: give the pair another name", m.Name)
		return f, false, nil
	}
	first := one.InitialTimeS == 0 && one.BaselineTimeS == 0 // as an anchor is set where a baseline has none
	refresh, err := folder.RefreshOf(one, m.Result, e.Initial || first)
	if err != nil {
		e.Leave("%s is not recorded: %v", m.Name, err)
		return f, false, nil
	}
	if why := e.implausible(one, &refresh); why != "" {
		e.Leave("%s is not recorded: its total %s; if the change is meant, record it with --force (in the action, the input force)", m.Name,
			why)
		return f, false, nil
	}
	if e.still(one, &refresh) {
		e.Still++
		return f, false, nil
	}
	f = caseFile{Path: one.Path, Name: m.Name, host: m.Host}
	data, err := edited[one.Path], error(nil)
	if data == nil {
		data, err = measure.ReadBounded(one.Path)
	}
	if errors.Is(err, fs.ErrNotExist) && known == nil {
		data, err = casefile.Marshal(one)
	}
	if err != nil {
		return f, false, err
	}
	member := ""
	if one.Group != nil {
		member = one.Name
	}
	if f.Data, f.changes, err = casefile.Edit(one.Path, member, data, refresh); err != nil {
		e.Leave("%s is not recorded: %v", m.Name, err)
		return f, false, nil
	}
	return f, true, nil
}

// still reports a baseline time that moved by too little for its case to be rewritten.
func (e *CaseEdits) still(one *casefile.Case, fresh *casefile.Refresh) bool {
	if e.MinMove == 0 || e.Initial || fresh.BaselineTimeS == nil || one.BaselineTimeS == 0 {
		return false
	}
	return math.Abs(*fresh.BaselineTimeS-one.BaselineTimeS) <= one.BaselineTimeS*one.BaselineTolerance*e.MinMove/100
}

// implausible returns how a recorded time would change by more than code makes, or "".
func (e *CaseEdits) implausible(one *casefile.Case, fresh *casefile.Refresh) string {
	if e.Policy == nil {
		return ""
	}
	why := ""
	if t := fresh.BaselineTimeS; t != nil {
		why = e.Policy.TooFar(cmp.Or(one.BaselineTimeS, one.InitialTimeS), *t)
	}
	if t := fresh.InitialTimeS; t != nil && why == "" {
		why = e.Policy.TooFar(one.InitialTimeS, *t)
	}
	return why
}

// sameWorkload reports whether two cases measure the same input.
func sameWorkload(a, b *casefile.Case) bool {
	return a.Type == b.Type && reflect.DeepEqual(a.UserInput, b.UserInput) && reflect.DeepEqual(a.Video, b.Video) &&
		slices.Equal(a.CompilationConfig, b.CompilationConfig) && slices.Equal(a.Command, b.Command)
}

// refreshes adds to the folder's record of refreshes.
func refreshes(folder string, records []casefile.Record) (caseFile, error) {
	path := filepath.Join(folder, casefile.HistoryFile)
	old, err := suite.ReadResult(path, path, casefile.MaxHistory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return caseFile{}, fmt.Errorf("%w: fix it, or move it away", err)
	}
	data, err := casefile.AppendHistory(old, records)
	if err != nil {
		return caseFile{}, fmt.Errorf("%s: %w", path, err)
	}
	return caseFile{Path: path, Data: data}, nil
}

// Save writes the files. The history of a folder comes before its cases: a
// refresh that is killed in the middle and done again tells a change twice
// rather than never.
func (e *CaseEdits) Save() error {
	for _, f := range e.Files {
		if err := casefile.Save(f.Path, f.Data); err != nil {
			return err
		}
	}
	return nil
}

// Tell prints what changed, what did not, and what to do next.
func (e *CaseEdits) Tell(w io.Writer, dryRun bool, judging string) {
	n, values := 0, 0
	for _, f := range e.Files {
		if f.Name == "" {
			continue
		}
		n++
		values += len(f.changes)
		fmt.Fprintf(w, "%s: %s\n", text.Clean(f.Path), text.Plural(len(f.changes), "value"))
		for _, ch := range f.changes {
			fmt.Fprintf(w, "  %s: %s -> %s\n", text.Clean(ch.JSONPath), text.Clean(ch.Old), text.Clean(ch.New))
		}
	}
	if e.Still > 0 {
		fmt.Fprintf(w, "%s moved less than min_move and stay as they were\n", text.Plural(e.Still, "case"))
	}
	done := "refreshed"
	if dryRun {
		done = "would be refreshed"
	}
	switch {
	case n > 0:
		fmt.Fprintf(w, "%s %s, %s\n", text.Plural(n, "case"), done, text.Plural(values, "value"))
		e.next(w, dryRun, judging)
	case len(e.Left) > 0:
		fmt.Fprintln(w, "No case was refreshed; the warnings give the reasons.")
	default:
		fmt.Fprintln(w, "The case files already hold what was measured; nothing is to be refreshed.")
	}
}

// next prints what to do with the files.
func (e *CaseEdits) next(w io.Writer, dryRun bool, judging string) {
	if dryRun {
		fmt.Fprintln(w, "Next: leave --dry-run out to write this")
		return
	}
	var paths []string
	for _, f := range e.Files {
		paths = append(paths, filepath.Dir(f.Path))
	}
	_ = judge.Next(w, "review it, commit it, and judge", judge.Reviewed(slices.Compact(paths)...), judging) // losing this line is harmless
}

// ForReport returns what changed in the words of the report.
func (f *caseFile) ForReport(path string) report.FileChanges {
	changes := report.FileChanges{Path: path, Noun: "case", Name: f.Name, Host: f.host}
	for _, c := range f.changes {
		changes.Changes = append(changes.Changes, report.FileChange{JSONPath: c.JSONPath, Old: c.Old, New: c.New})
	}
	return changes
}

// UnlessForced returns the policy whose implausible changes are not recorded.
func UnlessForced(force bool, p *gate.Policy) *gate.Policy {
	if force {
		return nil
	}
	return p
}
