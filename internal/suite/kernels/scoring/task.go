package scoring

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
)

// Status is where a task is: the words are flashinfer-bench's.
type Status string

// The statuses.
const (
	Pending   Status = "pending"
	Running   Status = "running"
	Completed Status = "completed" // each workload has a trace
	Failed    Status = "failed"    // a workload has none
)

var statuses = []Status{Pending, Running, Completed, Failed}

// task is one solution to be measured.
type task struct {
	record
	folder string
	done   chan struct{} // closed when it is completed or has failed
}

// record is what a task's file holds.
type record struct {
	ID         string    `json:"task_id"`
	Status     Status    `json:"status"`
	Definition string    `json:"definition"`
	Solution   string    `json:"solution"` // the name that it has here
	Author     string    `json:"author"`
	Workloads  []string  `json:"workload_uuids"`
	Tools      []string  `json:"tools,omitempty"` // that watch its cases
	Created    time.Time `json:"created"`
	Ended      time.Time `json:"ended,omitzero"`
	Error      string    `json:"error,omitempty"`
}

func (r *record) ended() bool { return r.Status == Completed || r.Status == Failed }

// The names in a task's folder.
const (
	recordFile = "task.json"
	dataFolder = "data" // a dataset of the solution and its workloads
)

// save writes the task's file.
func (t *task) save() error {
	data, err := json.Marshal(t.record)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(t.folder, recordFile), append(data, '\n'))
}

// maxRecord is how large a task's file may be: it names up to all workloads.
const maxRecord = 4 << 20

// restore reads the tasks that an earlier server left. One that was being measured
// when the server was killed has failed: it may be why. A folder without a task's
// file is what a killed server was writing.
func restore(dir string, now time.Time) (tasks []*task, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		folder := filepath.Join(dir, e.Name())
		if !e.IsDir() || !isID(e.Name()) {
			continue
		}
		t, err := readTask(folder)
		switch {
		case errors.Is(err, os.ErrNotExist):
			_ = os.RemoveAll(folder)
			continue
		case err != nil:
			return nil, fmt.Errorf("the task in %s cannot be read (%w): remove the folder", folder, err)
		case t.ID != e.Name():
			return nil, fmt.Errorf("the folder %s holds the task %.40q: remove the folder", folder, t.ID)
		}
		if t.Status == Running {
			t.Status, t.Ended, t.Error = Failed, now, "the server was killed while it measured the task: submit it again"
			if err := t.save(); err != nil {
				return nil, err
			}
		}
		if t.ended() {
			close(t.done)
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

func readTask(folder string) (*task, error) {
	path := filepath.Join(folder, recordFile)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxRecord {
		return nil, errors.New("it is not an ordinary file of a task")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t := &task{folder: folder, done: make(chan struct{})}
	if err := json.Unmarshal(data, &t.record); err != nil {
		return nil, err
	}
	if !slices.Contains(statuses, t.Status) {
		return nil, fmt.Errorf("unknown status %.40q", t.Status)
	}
	return t, nil
}

// isID reports whether a name can be a task's: 32 hexadecimal digits.
func isID(name string) bool {
	return len(name) == 32 && strings.Trim(name, "0123456789abcdef") == ""
}

// prepare makes the task's dataset: the definition, its workloads that were asked
// for, and the solution. Tensor files stay where they are, behind a link.
func (t *task) prepare(ds *flashinfer.Dataset, d *flashinfer.Definition, s *flashinfer.Solution, workloads []*flashinfer.Trace) error {
	data := filepath.Join(t.folder, dataFolder)
	if err := flashinfer.WriteOne(data, d, s, workloads); err != nil {
		return err
	}
	for _, w := range workloads {
		for _, in := range w.Workload.Inputs {
			if in.Type != flashinfer.Safetensors {
				continue
			}
			if err := link(ds, data, in); err != nil {
				return err
			}
		}
	}
	return t.save()
}

func link(ds *flashinfer.Dataset, data string, in flashinfer.Input) error {
	target, err := filepath.Abs(ds.BlobPath(in))
	if err != nil {
		return err
	}
	path := filepath.Join(data, filepath.FromSlash(in.Path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.Symlink(target, path); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

// traced is a trace with its line, which is known to be one.
type traced struct {
	*flashinfer.Trace
	line traceJSON
}

// traces returns what measuring has written, in the order of the workloads, the last
// one of each.
func (t *task) traces() (list []traced, err error) {
	ds, err := flashinfer.Load(filepath.Join(t.folder, dataFolder))
	if err != nil {
		return nil, err
	}
	last := map[string]*flashinfer.Trace{}
	for _, trace := range ds.Traces {
		if trace.Solution == t.Solution {
			last[trace.Workload.UUID] = trace
		}
	}
	for _, uuid := range t.Workloads {
		if trace := last[uuid]; trace != nil {
			line, err := flashinfer.EncodeTrace(trace)
			if err != nil {
				return nil, err
			}
			list = append(list, traced{trace, traceJSON{line}})
		}
	}
	return list, nil
}
