package scoring

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/text"
)

// evaluation is a request for a task.
type evaluation struct {
	Solution  json.RawMessage `json:"solution"`
	Workloads []string        `json:"workload_uuids"`
}

func (s *Server) evaluate(r *http.Request) (any, error) {
	var e evaluation
	if err := read(r, &e); err != nil {
		return nil, err
	}
	sol, err := flashinfer.ParseSolution("solution", bytes.TrimSpace(e.Solution))
	if err != nil {
		return nil, problem{http.StatusUnprocessableEntity, err.Error()}
	}
	if s.Dataset.Definition(sol.Definition) == nil {
		return nil, problem{http.StatusBadRequest, "Definition not found: " + text.Quote(sol.Definition, 80)}
	}
	workloads, err := s.chosen(sol.Definition, e.Workloads)
	if err != nil {
		return nil, err
	}
	t, err := s.submit(sol, workloads)
	var wrong refused
	switch {
	case errors.As(err, &wrong):
		return nil, problem{http.StatusUnprocessableEntity, wrong.Error()}
	case errors.Is(err, errFull):
		return nil, problem{http.StatusTooManyRequests, err.Error()}
	case errors.Is(err, errStopping):
		return nil, problem{http.StatusServiceUnavailable, err.Error()}
	case err != nil:
		return nil, err
	}
	return map[string]string{"task_id": t.ID, "normalized_solution_name": t.Solution}, nil
}

// chosen are the workloads of a definition with these uuids, all without any. One that
// is unknown is an error: a misspelling must not measure less.
func (s *Server) chosen(definition string, uuids []string) (list []*flashinfer.Trace, err error) {
	if len(uuids) == 0 {
		list = s.Dataset.WorkloadsOf(definition)
	}
	seen := map[string]bool{}
	for _, uuid := range uuids {
		w := s.Dataset.Workload(definition, uuid)
		if w == nil {
			return nil, problem{http.StatusBadRequest, fmt.Sprintf("No workload %s of the definition %s", text.Quote(uuid, 80), text.Quote(definition, 80))}
		}
		if !seen[uuid] {
			seen[uuid] = true
			list = append(list, w)
		}
	}
	if len(list) == 0 {
		return nil, problem{http.StatusBadRequest, "No workloads found for definition: " + text.Quote(definition, 80)}
	}
	return list, nil
}

// answer is a task for clients.
type answer struct {
	ID         string            `json:"task_id"`
	Status     Status            `json:"status"`
	Definition string            `json:"definition"`
	Solution   string            `json:"solution"`
	Traces     []json.RawMessage `json:"traces"`
	Error      *string           `json:"error"`
}

func (s *Server) task(r *http.Request) (any, error) {
	wait := 0.0
	if given := r.URL.Query().Get("timeout"); given != "" {
		var err error
		if wait, err = strconv.ParseFloat(given, 64); err != nil || !(wait >= 0 && wait <= maxWait) {
			return nil, problem{http.StatusUnprocessableEntity, "timeout must be a number of seconds from 0 to 3600"}
		}
	}
	list, err := s.answers(r, []string{r.PathValue("id")}, wait)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func (s *Server) batch(r *http.Request) (any, error) {
	var b struct {
		Tasks   []string `json:"task_ids"`
		Timeout float64  `json:"timeout"`
	}
	if err := read(r, &b); err != nil {
		return nil, err
	}
	if len(b.Tasks) > maxBatch || !(b.Timeout >= 0 && b.Timeout <= maxWait) {
		return nil, problem{http.StatusUnprocessableEntity, fmt.Sprintf("ask for at most %d tasks, and wait from 0 to 3600 seconds", maxBatch)}
	}
	return s.answers(r, b.Tasks, b.Timeout)
}

// answers waits for tasks to end, as long as is asked for, and returns them.
func (s *Server) answers(r *http.Request, ids []string, wait float64) ([]answer, error) {
	var tasks []*task
	for _, id := range ids {
		t := s.find(id)
		if t == nil {
			return nil, notFound("Task", id)
		}
		tasks = append(tasks, t)
	}
	limit := time.NewTimer(time.Duration(wait * float64(time.Second)))
	defer limit.Stop()
	for _, t := range tasks {
		if wait == 0 {
			break
		}
		select {
		case <-t.done:
		case <-r.Context().Done():
			return nil, problem{http.StatusServiceUnavailable, "the request ended: ask again"}
		case <-limit.C:
			wait = 0
		}
	}
	list := []answer{}
	for _, t := range tasks {
		a, err := s.answer(t)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// answer has traces once the task has ended.
func (s *Server) answer(t *task) (answer, error) {
	r := s.look(t)
	a := answer{ID: r.ID, Status: r.Status, Definition: r.Definition, Solution: r.Solution}
	if r.Error != "" {
		a.Error = &r.Error
	}
	if !r.ended() {
		return a, nil
	}
	traces, err := t.traces()
	if err != nil && r.Status == Completed {
		return a, notFound("Task", r.ID) // removed just now
	}
	if len(traces) > 0 {
		a.Traces = traces
	}
	return a, nil
}
