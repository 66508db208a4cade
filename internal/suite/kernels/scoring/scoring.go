// Package scoring serves a dataset over HTTP: clients submit solutions, which are
// measured one after another, and fetch the traces. The surface is that of
// "flashinfer-bench serve" (flashinfer_bench/serve/app.py), with a token, limits and
// tasks that outlive the server. POST /profile, kinds of tasks and logs have the shapes of
// https://github.com/flashinfer-ai/flashinfer-bench/pull/299, without its options.
//
// # Tasks
//
// Each task has a folder of its own with a dataset of one solution. A task is
// measured by [Options.Score], one at a time on each lane. When the server is asked to
// stop, the task that is being measured is pending again; the next server measures it.
// When the server is killed, that task has failed, because it may be the reason.
package scoring

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/text"
)

// Options say what is served, and how.
type Options struct {
	Dataset *flashinfer.Dataset
	Dir     string   // of tasks
	Token   string   // that requests must have; "" for none
	Hosts   []string // names by which the server is asked without a token
	Queue   int      // most pending tasks
	Lanes   []string // what tasks are measured on at the same time, such as ids of devices; "" leaves it to Score
	Tools   []string // that clients may have watch their solutions, by POST /profile; the first of them if they name none
	// Score measures the dataset of a task in its folder, and appends traces to it. Its error is the task's. When ctx is done it returns.
	Score func(ctx context.Context, job Job) error
	Now   func() time.Time
	Warn  func(string)
}

// Job is one task for [Options.Score].
type Job struct {
	Data string // folder of the dataset
	Out  string // folder for anything else
	Lane string
	// Tools watch the cases that pass. They are some of [Options.Tools], or those of an
	// earlier server that left the task.
	Tools []string
}

// What is kept of tasks that have ended.
const (
	keptTasks = 500
	keptTime  = 24 * time.Hour
)

// Server holds the tasks. Its methods are safe for concurrent use.
type Server struct {
	Options
	hold *atomicfile.Hold

	mu       sync.Mutex
	tasks    map[string]*task
	queue    []*task
	changed  chan struct{} // closed and replaced when the queue grows
	busy     map[string]string
	stopping bool
}

// errFull and errStopping are why a task is not accepted.
var (
	errFull     = errors.New("the queue is full: try again later")
	errStopping = errors.New("the server stops: submit the task to the next one")
)

// New takes over the tasks in the folder. Only one server may use a folder.
func New(o Options) (*Server, error) {
	if err := atomicfile.MkdirAll(o.Dir); err != nil {
		return nil, err
	}
	hold, err := atomicfile.HoldFolder(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("the folder of tasks %s: %w: end the other server, or name another folder", o.Dir, err)
	}
	tasks, err := restore(o.Dir, o.Now())
	if err != nil {
		hold.Release()
		return nil, err
	}
	s := &Server{Options: o, hold: hold, tasks: map[string]*task{}, changed: make(chan struct{}), busy: map[string]string{}}
	slices.SortFunc(tasks, func(a, b *task) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	for _, t := range tasks {
		s.tasks[t.ID] = t
		if t.Status == Pending {
			s.queue = append(s.queue, t)
		}
	}
	s.prune()
	return s, nil
}

// run measures tasks until ctx is done, and returns when nothing is measured any
// more.
func (s *Server) run(ctx context.Context) {
	defer s.hold.Release()
	var lanes sync.WaitGroup
	for _, lane := range s.Lanes {
		lanes.Go(func() {
			for t := s.next(ctx, lane); t != nil; t = s.next(ctx, lane) {
				s.measure(ctx, t, lane)
			}
		})
	}
	lanes.Wait()
}

// next waits for a task and takes it; nil when ctx is done.
func (s *Server) next(ctx context.Context, lane string) *task {
	for {
		s.mu.Lock()
		if ctx.Err() != nil {
			s.stopping = true
			s.mu.Unlock()
			return nil
		}
		if len(s.queue) > 0 {
			t := s.queue[0]
			s.queue = s.queue[1:]
			s.set(t, Running, "")
			s.busy[lane] = t.ID
			s.mu.Unlock()
			return t
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// set changes a task and its file. The lock is held.
func (s *Server) set(t *task, status Status, why string) {
	t.Status, t.Error = status, why
	if t.ended() {
		t.Ended = s.Now()
	}
	if err := t.save(); err != nil {
		s.Warn(fmt.Sprintf("the task %s cannot be written (%v): free space in %s", t.ID, err, s.Dir))
	}
	if t.ended() {
		close(t.done)
	}
}

func (s *Server) measure(ctx context.Context, t *task, lane string) {
	err := s.Score(ctx, Job{Data: filepath.Join(t.folder, dataFolder), Out: filepath.Join(t.folder, "out"), Lane: lane, Tools: t.Tools})
	traces, readErr := t.traces()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, lane)
	switch lacking := len(t.Workloads) - len(traces); {
	case ctx.Err() != nil && lacking > 0:
		s.set(t, Pending, "")
		return
	case readErr != nil:
		s.set(t, Failed, "its traces cannot be read: "+text.Clip(readErr.Error(), maxReason))
	case lacking > 0:
		why := fmt.Sprintf("%s of %d without a trace", text.Plural(lacking, "workload"), len(t.Workloads))
		if err != nil {
			why += ": " + text.Clip(err.Error(), maxReason)
		}
		s.set(t, Failed, why)
	default:
		s.set(t, Completed, "")
	}
	s.prune()
}

const maxReason = 4 << 10

// prune removes tasks that ended long ago, and of too many the oldest.
func (s *Server) prune() {
	var ended []*task
	for _, t := range s.tasks {
		if t.ended() {
			ended = append(ended, t)
		}
	}
	slices.SortFunc(ended, func(a, b *task) int { return b.Ended.Compare(a.Ended) })
	for i, t := range ended {
		if i >= keptTasks || s.Now().Sub(t.Ended) > keptTime {
			delete(s.tasks, t.ID)
			if err := os.RemoveAll(t.folder); err != nil {
				s.Warn(fmt.Sprintf("the task %s cannot be removed (%v): remove %s", t.ID, err, t.folder))
			}
		}
	}
}

// submit accepts a solution.
func (s *Server) submit(sol *flashinfer.Solution, workloads []*flashinfer.Trace, tools []string) (*task, error) {
	d := s.Dataset.Definition(sol.Definition)
	id := newID()
	named := *sol
	named.Name = text.Cut(sol.Name, maxName) + "_" + id[:8]
	t := &task{folder: filepath.Join(s.Dir, id), done: make(chan struct{}),
		record: record{
			ID:         id,
			Status:     Pending,
			Definition: d.Name,
			Solution:   named.Name,
			Author:     sol.Author,
			Tools:      tools,
			Created:    s.Now(),
		}}
	for _, w := range workloads {
		t.Workloads = append(t.Workloads, w.Workload.UUID)
	}
	s.mu.Lock()
	err := s.room()
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if _, err := flashinfer.SolutionPath(d, &named); err != nil {
		return nil, refused{err}
	}
	if err := t.prepare(s.Dataset, d, &named, workloads); err != nil {
		_ = os.RemoveAll(t.folder)
		return nil, fmt.Errorf("the task cannot be written: %w: free space on the server, or start it with another --dir", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.room(); err != nil { // others may have been faster
		_ = os.RemoveAll(t.folder)
		return nil, err
	}
	s.tasks[id] = t
	s.queue = append(s.queue, t)
	close(s.changed)
	s.changed = make(chan struct{})
	return t, nil
}

// maxName is how much of a solution's name is kept before a part of the task's id.
const maxName = 150

// refused is what is wrong with a solution.
type refused struct{ error }

// room returns why no task can be queued; s.mu is held.
func (s *Server) room() error {
	switch {
	case s.stopping:
		return errStopping
	case len(s.queue) >= s.Queue:
		return errFull
	}
	return nil
}

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// find returns a task, nil if there is none.
func (s *Server) find(id string) *task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tasks[id]
}

// look returns a copy of a task's record.
func (s *Server) look(t *task) record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return t.record
}
