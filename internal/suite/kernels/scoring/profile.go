package scoring

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/text"
)

// toolNames are some of [Options.Tools].
type toolNames []string

// profiling is a request for a task whose cases tools watch.
type profiling struct {
	evaluation
	Tools toolNames `json:"tools,omitempty" jsonschema:"tools that watch each case that passes; if absent, the first that is allowed"`
}

func (s *Server) profile(_ *http.Request, p profiling) (submitted, error) {
	for _, t := range p.Tools {
		if !slices.Contains(s.Tools, t) {
			return submitted{}, problem{
				http.StatusUnprocessableEntity,
				fmt.Sprintf("unknown tool %s: write %s", text.Quote(t, 80), strings.Join(s.Tools, " or ")),
			}
		}
	}
	return s.accept(p.evaluation, s.watching(p.Tools))
}

// watching are the tools of a request, each once.
func (s *Server) watching(asked []string) (tools []string) {
	for i, tool := range s.Tools {
		if slices.Contains(asked, tool) || len(asked) == 0 && i == 0 {
			tools = append(tools, tool)
		}
	}
	return tools
}

// kind is why a task is there: the words are flashinfer-bench's.
type kind string

const (
	evaluating kind = "evaluate"
	watched    kind = "profile"
)

func (r *record) kind() kind {
	if len(r.Tools) > 0 {
		return watched
	}
	return evaluating
}

// toolLog is what the tools of a task found about one case.
type toolLog struct {
	Definition string       `json:"definition"`
	Workload   workloadJSON `json:"workload"`
	Solution   string       `json:"solution"`
	Log        string       `json:"log" jsonschema:"for each tool a line with its state, and below it its report in JSON"`
}

func logOf(t *flashinfer.Trace, tools []string) (toolLog, error) {
	l := toolLog{Definition: t.Definition, Solution: t.Solution}
	for _, tool := range tools {
		l.Log += finding(t.Evaluation, tool)
	}
	var err error
	l.Workload.RawMessage, err = flashinfer.EncodeWorkload(&t.Workload)
	return l, err
}

// finding is what one tool found.
func finding(e *flashinfer.Evaluation, name string) string {
	if e.Gate != nil {
		for _, p := range e.Gate.Profiles {
			if p.Tool == name {
				return found(p)
			}
		}
	}
	return fmt.Sprintf("%s: not run: the case is %s, and tools watch cases that pass: correct the solution and submit it again\n", name,
		e.Status)
}

func found(p flashinfer.Profile) string {
	line := p.Tool + ": " + string(p.State)
	if p.Note != "" {
		line += ": " + p.Note
	}
	if len(p.Report) > 0 {
		line += "\n" + string(p.Report)
	}
	return line + "\n"
}
