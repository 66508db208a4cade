// Package plan prints what would be measured: cells, shards, and the jobs of a workflow. It measures nothing.
package plan

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/terminal"
)

// Options say what is planned, and how it is printed.
type Options struct {
	measure.HostOptions
	measure.SelectOptions
	List, JSON bool
	For        string   // name of a target; "" for none
	Args       []string // flags of run for the jobs of the target
	Shards     ShardCount
	Longest    time.Duration // that a shard should take; 0 is any
	name       string        // of the configuration
}

// Check refuses options that exclude each other.
func (o *Options) Check() error {
	if o.Shards.auto && o.Longest == 0 {
		return exit.Usagef("--shards auto needs the longest time of a shard: add --max-minutes")
	}
	switch {
	case o.Longest > 0 && len(o.Durations) == 0:
		return exit.Usagef("--max-minutes needs the times of cells: add --durations with the run.json of earlier runs")
	case o.Longest > 0 && !o.Shards.given() && o.For == "":
		return exit.Usagef("--max-minutes bounds shards: add --shards auto")
	}
	if len(o.Durations) > 0 && !o.Shards.given() && o.Shard == "" && o.For == "" {
		return exit.Usagef("--durations balances shards: add --shards n, or leave it out")
	}
	if o.List && o.JSON {
		return exit.Usagef("--list and --json exclude each other: keep one")
	}
	return o.checkFor()
}

// planned* are the JSON of a plan.
type (
	plannedDocument struct {
		Host    string          `json:"host"`
		Cells   []plannedCell   `json:"cells"`
		Skipped []plannedSkip   `json:"skipped"`
		LeftOut []bench.LeftOut `json:"left_out"`
		Shards  []plannedShard  `json:"shards,omitempty"`
		// Untracked are cells that the host's baseline does not have, Missing those of the
		// baseline that no suite has. Both are absent without a baseline in this checkout.
		Untracked []string `json:"untracked,omitempty"`
		Missing   []string `json:"missing,omitempty"`
		// Expected is there if anything is known of how long cells take.
		Expected *expectedTimes `json:"expected,omitempty"`
	}
	expectedTimes struct {
		MakespanMS   float64 `json:"makespan_ms"` // of the longest shard
		BoundMS      float64 `json:"bound_ms"`    // below which no packing into so many shards can fall
		Ratio        float64 `json:"ratio"`
		UnknownCells int     `json:"unknown_cells"` // that count as the median of their suite
	}
	plannedCell struct {
		ID    string `json:"id"`
		Suite string `json:"suite"`
	}
	plannedSkip struct {
		ID     string `json:"id"`
		Reason string `json:"reason"`
	}
	plannedShard struct {
		Shard  string   `json:"shard"` // for run --shard
		WallMS float64  `json:"wall_ms,omitempty"`
		Cells  []string `json:"cells"`
	}
)

// Print prints the plan of a host and measures nothing.
func Print(ctx context.Context, e *measure.Env, o *Options) error {
	s, err := e.OpenPlanFor(ctx, o.options())
	if err != nil {
		return err
	}
	defer s.Close()
	return o.print(e, s.Plan)
}

// PrintRun lists the cells that a run measures on this host, and measures nothing.
func PrintRun(ctx context.Context, e *measure.Env, o *measure.Options) error {
	o.NoFetch = true
	s, err := e.OpenPlan(ctx, o)
	if err != nil {
		return err
	}
	defer s.Close()
	return (&Options{HostOptions: o.HostOptions, SelectOptions: o.SelectOptions, List: true}).print(e, s.Plan)
}

func (o *Options) options() *measure.Options {
	return &measure.Options{HostOptions: o.HostOptions, SelectOptions: o.SelectOptions}
}

func (o *Options) print(e *measure.Env, p *measure.Plan) error {
	e.WarnAll(p.Warnings)
	doc, err := document(e, p, o)
	if err != nil {
		return err
	}
	held, err := compare(p)
	if err != nil {
		return err
	}
	if held != nil {
		doc.Untracked, doc.Missing = held.untracked, held.missing
	}
	switch {
	case o.List:
		for _, cell := range doc.Cells {
			fmt.Fprintln(e.Stdout, cell.ID)
		}
	case o.JSON:
		return text.WriteJSON(e.Stdout, " ", doc)
	default:
		t := terminal.NewTable(e.Stdout, terminal.Of(e.Stdout, e.Getenv).Columns)
		summarize(t, p, doc, held)
		return t.Flush()
	}
	return nil
}

func document(e *measure.Env, p *measure.Plan, o *Options) (plannedDocument, error) {
	doc := plannedDocument{Host: p.Host.Label, Cells: []plannedCell{}, Skipped: []plannedSkip{}, LeftOut: []bench.LeftOut{}}
	for _, s := range p.Suites {
		for _, cell := range s.Cells {
			doc.Cells = append(doc.Cells, plannedCell{cell.ID(), cell.Suite})
		}
		for _, r := range s.Skipped {
			doc.Skipped = append(doc.Skipped, plannedSkip{r.Cell.ID(), r.Reason})
		}
	}
	doc.LeftOut = append(doc.LeftOut, p.LeftOut...)
	if !o.Shards.given() {
		return doc, nil
	}
	split, err := o.split(p, 1)
	if err != nil {
		return doc, err
	}
	e.WarnAll(o.warning(split))
	for i, s := range split.Shards {
		doc.Shards = append(doc.Shards,
			plannedShard{fmt.Sprintf("%d/%d", i+1, len(split.Shards)), inMilliseconds(s.Time), measure.CellIDs(s.Cells)})
	}
	if split.Makespan > 0 {
		doc.Expected = &expectedTimes{inMilliseconds(split.Makespan), inMilliseconds(split.Bound), split.Ratio(), split.Unknown}
	}
	return doc, nil
}

func inMilliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// summarize prints a plan for people.
func summarize(w io.Writer, p *measure.Plan, doc plannedDocument, held *recorded) {
	fmt.Fprintf(w, "host %s: %s", doc.Host, text.Plural(len(doc.Cells), "cell"))
	for _, more := range []struct {
		n    int
		what string
	}{{len(doc.Skipped), "skipped"}, {len(doc.LeftOut), "over the limit"}, {len(p.Others), "not selected"}} {
		if more.n > 0 {
			fmt.Fprintf(w, ", %s %s", text.Plural(more.n, "cell"), more.what)
		}
	}
	fmt.Fprintln(w)
	for _, s := range p.Suites {
		fmt.Fprintf(w, "  suite %s: %s x %s\n", s.Name, text.Plural(len(s.Cells), "cell"), text.Plural(s.Plan.Repeats, "measurement"))
	}
	reasons := map[string]int{}
	for _, s := range doc.Skipped {
		if reasons[s.Reason]++; reasons[s.Reason] == 1 {
			fmt.Fprintf(w, "  skipped: %s: %s\n", s.ID, text.OneLine(s.Reason))
		}
	}
	held.print(w, p)
	for _, s := range doc.Shards {
		fmt.Fprintf(w, "  shard %s: %s", s.Shard, text.Plural(len(s.Cells), "cell"))
		if s.WallMS > 0 {
			fmt.Fprintf(w, ", %.1f s by earlier runs", s.WallMS/1000)
		}
		fmt.Fprintln(w)
	}
	if x := doc.Expected; x != nil {
		fmt.Fprintf(w, "  expected: %.1f s for the longest shard, at least %.1f s however they are packed (%.3f x)\n", x.MakespanMS/1000,
			x.BoundMS/1000, x.Ratio)
		if x.UnknownCells > 0 {
			fmt.Fprintf(w, "  %s not in earlier runs, counted as the median of the others\n", text.Plural(x.UnknownCells, "cell"))
		}
	}
	t := judge.Typing{Options: p.Options, File: p.File}
	_ = judge.Next(w, "print the ids, or measure them", string(t.Planned("accelgate plan")+" --list"), string(t.Planned("accelgate run")))
}
