package scoring

import (
	"bytes"
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
	Solution  solutionJSON `json:"solution" jsonschema:"a program in flashinfer-bench's form"`
	Workloads []string     `json:"workload_uuids,omitempty" jsonschema:"uuids of workloads of the solution's definition; if absent, all"`
}

// submitted is a task that was accepted.
type submitted struct {
	ID       string `json:"task_id"`
	Solution string `json:"normalized_solution_name" jsonschema:"the name that the solution has in traces"`
}

func (s *Server) evaluate(_ *http.Request, e evaluation) (submitted, error) { return s.accept(e, nil) }

// accept makes a task whose cases the tools watch.
func (s *Server) accept(e evaluation, tools []string) (submitted, error) {
	sol, err := flashinfer.ParseSolution("solution", bytes.TrimSpace(e.Solution.RawMessage))
	if err != nil {
		return submitted{}, problem{http.StatusUnprocessableEntity, err.Error()}
	}
	if s.Dataset.Definition(sol.Definition) == nil {
		return submitted{}, problem{http.StatusBadRequest, "Definition not found: " + text.Quote(sol.Definition, 80)}
	}
	workloads, err := s.chosen(sol.Definition, e.Workloads)
	if err != nil {
		return submitted{}, err
	}
	t, err := s.submit(sol, workloads, tools)
	if err != nil {
		return submitted{}, unaccepted(err)
	}
	return submitted{t.ID, t.Solution}, nil
}

// unaccepted gives what [Server.submit] returned its status code.
func unaccepted(err error) error {
	switch wrong := (refused{}); {
	case errors.As(err, &wrong):
		return problem{http.StatusUnprocessableEntity, wrong.Error()}
	case errors.Is(err, errFull):
		return problem{http.StatusTooManyRequests, err.Error()}
	case errors.Is(err, errStopping):
		return problem{http.StatusServiceUnavailable, err.Error()}
	}
	return err
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
			return nil, problem{
				http.StatusBadRequest,
				fmt.Sprintf("No workload %s of the definition %s", text.Quote(uuid, 80), text.Quote(definition, 80)),
			}
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

// answer is a task for clients. It has traces, and logs of tools, once it has ended.
type answer struct {
	ID         string      `json:"task_id"`
	Kind       kind        `json:"kind"`
	Status     Status      `json:"status"`
	Definition string      `json:"definition"`
	Solution   string      `json:"solution"`
	Traces     []traceJSON `json:"traces"`
	Logs       []toolLog   `json:"logs" jsonschema:"what tools found about each case; null for tasks of POST /evaluate"`
	Error      *string     `json:"error"`
}

func (s *Server) task(r *http.Request) (answer, error) {
	wait := 0.0
	if given := r.URL.Query().Get("timeout"); given != "" {
		var err error
		if wait, err = strconv.ParseFloat(given, 64); err != nil || !(wait >= 0 && wait <= maxWait) {
			return answer{}, problem{http.StatusUnprocessableEntity, "timeout must be a number of seconds from 0 to 3600"}
		}
	}
	list, err := s.answers(r, []string{r.PathValue("task_id")}, wait)
	if err != nil {
		return answer{}, err
	}
	return list[0], nil
}

// seconds are from 0 to maxWait.
type seconds float64

// batch is a request for several tasks.
type batch struct {
	Tasks   []string `json:"task_ids" jsonschema:"ids of tasks, at most 1000"`
	Timeout seconds  `json:"timeout,omitempty" jsonschema:"seconds to wait for all of them to end, from 0 to 3600; 0 if absent"`
}

func (s *Server) batch(r *http.Request, b batch) ([]answer, error) {
	if len(b.Tasks) > maxBatch || !(b.Timeout >= 0 && b.Timeout <= maxWait) {
		return nil, problem{
			http.StatusUnprocessableEntity,
			fmt.Sprintf("ask for at most %d tasks, and wait from 0 to 3600 seconds", maxBatch),
		}
	}
	return s.answers(r, b.Tasks, float64(b.Timeout))
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

func (s *Server) answer(t *task) (answer, error) {
	r := s.look(t)
	a := answer{ID: r.ID, Kind: r.kind(), Status: r.Status, Definition: r.Definition, Solution: r.Solution}
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
	return a, a.fill(traces, r.Tools)
}

func (a *answer) fill(traces []traced, tools []string) error {
	for _, t := range traces {
		a.Traces = append(a.Traces, t.line)
		if len(tools) == 0 {
			continue
		}
		log, err := logOf(t.Trace, tools)
		if err != nil {
			return err
		}
		a.Logs = append(a.Logs, log)
	}
	return nil
}
