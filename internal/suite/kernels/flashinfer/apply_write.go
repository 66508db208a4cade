package flashinfer

import (
	"encoding/json"
	"path/filepath"

	"github.com/accelgate/accelgate/internal/atomicfile"
)

// ApplyFile is the name of the table in a folder that [ApplyTable.Write] makes.
const ApplyFile = "apply.json"

// Write makes the folder out, a dataset that holds the needs of the table: the definitions,
// the solutions that were chosen, their workloads and the traces that chose them;
// and the table itself as apply.json. flashinfer-bench's apply, pointed to the
// folder, has no other solution to choose. Tensor files are not copied: they are for
// measuring. The folder becomes visible as a whole, and must not be there already.
func (t *ApplyTable) Write(ds *Dataset, out string) error {
	if err := absent(out, "write"); err != nil {
		return err
	}
	kept, lines := newDataset(out), map[string][][]byte{}
	for _, d := range ds.Definitions {
		if t.Index[d.Name] != nil {
			kept.add(&file{folder: definitionsFolder, definition: d})
		}
	}
	for _, trace := range t.winners {
		s, d := ds.Solution(trace.Solution), ds.Definition(trace.Definition)
		if kept.Solution(s.Name) == nil {
			kept.add(&file{folder: solutionsFolder, solution: s})
		}
		if w := ds.Workload(trace.Definition, trace.Workload.UUID); w != nil &&
			kept.Workload(trace.Definition, trace.Workload.UUID) == nil {
			kept.add(&file{folder: workloadsFolder, traces: []*Trace{w}})
		}
		path, err := TracePath(d, s.Author)
		if err != nil {
			return err
		}
		line, err := EncodeTrace(trace)
		if err != nil {
			return err
		}
		lines[path] = append(lines[path], line)
	}
	table, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Replace(out, func(dir string) error {
		if err := kept.writeInto(dir, lines); err != nil {
			return err
		}
		if err := atomicfile.Write(filepath.Join(dir, ApplyFile), append(table, '\n')); err != nil {
			return err
		}
		_, err := Load(dir)
		return err
	})
}
