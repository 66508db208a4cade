package calibrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
)

// processes records when each process of a calibration ended, and on which host.
// It is safe for concurrent use.
type processes struct {
	mu   sync.Mutex
	seen map[string][]process // by cell, in the order of measurement
	last int                  // processes in all
}

// process is one measurement of a cell.
type process struct {
	result bench.Result
	ended  time.Time
	place  int // among all processes, from 1 on
}

func (p *processes) add(r bench.Result, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	id := r.Cell.ID()
	p.seen[id] = append(p.seen[id], process{r, now, p.last})
}

// samePairs is a line of a recording: neighbouring processes of unchanged code as
// pairs. A and B are costs: the value, or its reciprocal if higher is better.
type samePairs struct {
	T        int64                `json:"t"`       // start of the calibration, Unix seconds
	Session  int64                `json:"session"` // the same
	Host     string               `json:"host"`
	Workload string               `json:"w"`     // cell and metric
	Delta    float64              `json:"delta"` // extra work of B in percent: none
	Unit     string               `json:"unit,omitempty"`
	Better   bench.Direction      `json:"better"`
	A        []float64            `json:"A"`
	B        []float64            `json:"B"`
	Order    []string             `json:"order"`  // of each pair, "AB" or "BA"
	Ended    []int64              `json:"ended"`  // Unix milliseconds, in the order of measurement
	Places   []int                `json:"places"` // among all processes of the calibration
	Health   []bench.HealthStatus `json:"health"` // "" if the host was not watched
}

// recording returns the lines of all gated metrics of cells that passed.
func (p *processes) recording(run *bench.Run) ([]byte, error) {
	var lines bytes.Buffer
	e := json.NewEncoder(&lines)
	for i := range run.Results {
		r := &run.Results[i]
		for _, m := range run.Metrics {
			if m.Informational || m.Exact || r.Outcome != bench.Passed {
				continue
			}
			line := samePairs{
				T:        run.Started.Unix(),
				Session:  run.Started.Unix(),
				Host:     run.Host.Label,
				Workload: r.Cell.ID() + " " + m.Name,
				Unit:     m.Unit,
				Better:   m.Better,
			}
			line.pair(p.seen[r.Cell.ID()], &m)
			if len(line.A) == 0 {
				continue
			}
			if err := e.Encode(line); err != nil {
				return nil, fmt.Errorf("encode a recording: %w", err)
			}
		}
	}
	return lines.Bytes(), nil
}

// pair makes pairs of neighbouring processes, A first and B first alternately. A
// pair that lacks a positive value is left out.
func (l *samePairs) pair(all []process, m *bench.Metric) {
	for i := 0; i+1 < len(all); i += 2 {
		first, ok1 := all[i].cost(m)
		second, ok2 := all[i+1].cost(m)
		if !ok1 || !ok2 {
			continue
		}
		order := "AB"
		if len(l.A)%2 == 1 {
			order, first, second = "BA", second, first
		}
		l.A, l.B, l.Order = append(l.A, first), append(l.B, second), append(l.Order, order)
		for _, p := range all[i : i+2] {
			l.Ended, l.Places, l.Health = append(l.Ended, p.ended.UnixMilli()), append(l.Places, p.place), append(l.Health, p.health())
		}
	}
}

func (p *process) cost(m *bench.Metric) (cost float64, ok bool) {
	s := p.result.Sample(m.Name)
	if s == nil || len(s.Values) == 0 || !(s.Values[0] > 0) {
		return 0, false
	}
	if cost = s.Values[0]; m.Better == bench.Higher {
		cost = 1 / cost
	}
	return cost, bench.Finite(cost)
}

func (p *process) health() bench.HealthStatus {
	if p.result.Health == nil {
		return ""
	}
	return p.result.Health.Status
}

// openRecording opens the file to which a calibration is appended: path itself if
// it ends in .jsonl, else pairs-LABEL.jsonl in that folder.
func openRecording(path, label string) (*os.File, error) {
	if !strings.HasSuffix(path, ".jsonl") {
		path = filepath.Join(path, "pairs-"+label+".jsonl")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, exit.AsUsage(fmt.Errorf("--record: %w: name a file or a folder that can be written", err))
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, exit.AsUsage(fmt.Errorf("--record: %w: name a file or a folder that can be written", err))
	}
	return f, nil
}

// appendRecording appends what was measured to a file, and closes it.
func appendRecording(env *measure.Env, f *os.File, lines []byte) error {
	_, err := f.Write(lines)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("record the calibration: %w", err)
	}
	fmt.Fprintf(env.Stderr, "accelgate: %s: pairs of %s recorded\n", f.Name(), text.Plural(bytes.Count(lines, []byte("\n")), "metric"))
	return nil
}
