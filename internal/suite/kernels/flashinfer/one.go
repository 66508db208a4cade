package flashinfer

// WriteOne writes a dataset of one definition with one solution and these workloads
// into a folder that does not hold them yet.
func WriteOne(dir string, d *Definition, s *Solution, workloads []*Trace) error {
	ds := newDataset(dir)
	ds.add(&file{folder: definitionsFolder, definition: d})
	ds.add(&file{folder: solutionsFolder, solution: s})
	ds.add(&file{folder: workloadsFolder, traces: workloads})
	return ds.writeInto(dir, nil)
}

// EncodeWorkload returns a workload as it stands in the lines of a dataset.
func EncodeWorkload(w *Workload) ([]byte, error) { return compact(w.fields()) }
