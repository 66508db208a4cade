package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/verdict"
)

const planHelp = `Print what would be measured, and measure nothing. It needs no accelerator and
none of the programs under test.

  accelgate plan                                       cells by suite, skipped and left out
  accelgate plan --list                                the case ids, one a line
  accelgate plan --list --host-label macos-mlx         as on another host
  accelgate plan --shards 4 --durations runs/          parts that take equally long
  accelgate plan --shards auto --max-minutes 20 --durations runs/
                                                       as few parts as take 20 minutes each
  accelgate plan --github-matrix                       for strategy.matrix of a workflow

A label such as linux-cuda, linux-rocm, linux-npu or macos-mlx stands for a
machine of that kind; with any other label, cells are planned for this one. The
matrix has one job for each of the configuration's runners and shards. Shards are
packed by the median time of each cell in earlier runs, those of this label where
there are any; a cell and its A/A twin
stay together, and so do those that share what is loaded once. Give 'accelgate
run --shard k/n' the same --durations and --host-label.`

// planning are the flags of plan.
type planning struct {
	measure.Options
	list, json, matrix bool
	here               bool // whatever the label says
	shards             shardCount
	most               period // that a shard should take
}

func (c *Command) planCommand() *cobra.Command {
	var o planning
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Print the plan: cells, shards, the matrix of a workflow",
		Long:  planHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.shards.auto && o.most == 0 {
				return exit.Usagef("--shards auto needs the longest time of a shard: add --max-minutes")
			}
			switch {
			case o.most > 0 && len(o.Durations) == 0:
				return exit.Usagef("--max-minutes needs the times of cells: add --durations with the run.json of earlier runs")
			case o.most > 0 && !o.shards.given() && !o.matrix:
				return exit.Usagef("--max-minutes bounds shards: add --shards auto")
			}
			if len(o.Durations) > 0 && !o.shards.given() && o.Shard == "" && !o.matrix {
				return exit.Usagef("--durations balances shards: add --shards n, or leave it out")
			}
			if o.list && o.json || o.matrix && (o.list || o.json) {
				return exit.Usagef("--list, --json and --github-matrix exclude each other: keep one")
			}
			if o.matrix {
				return c.printMatrix(cmd.Context(), &o)
			}
			return c.printPlan(cmd.Context(), &o)
		},
	}
	f := cmd.Flags()
	addConfig(&o.Options, f)
	f.StringVar(&o.HostLabel, "host-label", "", "`label` of the host to plan for (default: this machine)")
	f.StringSliceVar(&o.Suites, "suite", nil, "`names` of the suites, separated by commas (default: all)")
	addSelection(&o.Options, f)
	f.Var(&o.shards, "shards", "pack the cells into `n` parts, or auto: as few as take --max-minutes each")
	f.Var((*minutes)(&o.most), "max-minutes", "`m` minutes that a shard should take at most")
	f.BoolVar(&o.list, "list", false, "print the case ids, one a line")
	f.BoolVar(&o.json, "json", false, "print everything as JSON")
	f.BoolVar(&o.matrix, "github-matrix", false, "print one line of JSON for fromJSON in strategy.matrix")
	return cmd
}

// planFor plans for the host of a label, without asking this machine where the
// label says what it is.
func (c *Command) planFor(ctx context.Context, o *measure.Options) (*measure.Plan, error) {
	simulated, ok := device.FromLabel(o.HostLabel)
	if !ok {
		return c.env().Plan(ctx, o)
	}
	p, err := c.env().NewPlan(o)
	if err != nil {
		return nil, err
	}
	p.Host = simulated
	if err := p.Open(); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// planned* are the JSON of a plan.
type (
	plannedDocument struct {
		Host    string          `json:"host"`
		Cells   []plannedCell   `json:"cells"`
		Skipped []plannedSkip   `json:"skipped"`
		LeftOut []bench.LeftOut `json:"left_out"`
		Shards  []plannedShard  `json:"shards,omitempty"`
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

func (c *Command) printPlan(ctx context.Context, o *planning) error {
	planFor := c.planFor
	if o.here {
		planFor = c.env().Plan
	}
	p, err := planFor(ctx, &o.Options)
	if err != nil {
		return err
	}
	defer p.Close()
	c.warnAll(p.Warnings)
	doc, err := c.document(p, o)
	if err != nil {
		return err
	}
	switch {
	case o.list:
		for _, cell := range doc.Cells {
			fmt.Fprintln(c.Stdout, cell.ID)
		}
	case o.json:
		e := json.NewEncoder(c.Stdout)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return e.Encode(doc)
	default:
		c.summarize(p, doc)
	}
	return nil
}

func (c *Command) document(p *measure.Plan, o *planning) (plannedDocument, error) {
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
	if !o.shards.given() {
		return doc, nil
	}
	split, err := o.split(p, 1)
	if err != nil {
		return doc, err
	}
	c.warnAll(o.warning(split))
	for i, s := range split.Shards {
		doc.Shards = append(doc.Shards, plannedShard{fmt.Sprintf("%d/%d", i+1, len(split.Shards)), inMilliseconds(s.Time), measure.CellIDs(s.Cells)})
	}
	if split.Makespan > 0 {
		doc.Expected = &expectedTimes{inMilliseconds(split.Makespan), inMilliseconds(split.Bound), split.Ratio(), split.Unknown}
	}
	return doc, nil
}

func inMilliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// summarize prints a plan for people.
func (c *Command) summarize(p *measure.Plan, doc plannedDocument) {
	fmt.Fprintf(c.Stdout, "host %s: %d cells", doc.Host, len(doc.Cells))
	for _, more := range []struct {
		n    int
		what string
	}{{len(doc.Skipped), "combinations that it cannot run"}, {len(doc.LeftOut), "cells over the limit"}, {len(p.Others), "cells not selected"}} {
		if more.n > 0 {
			fmt.Fprintf(c.Stdout, ", %d %s", more.n, more.what)
		}
	}
	fmt.Fprintln(c.Stdout)
	for _, s := range p.Suites {
		fmt.Fprintf(c.Stdout, "  suite %s: %d cells x %d measurements\n", s.Name, len(s.Cells), s.Suite.Repeats())
	}
	reasons := map[string]int{}
	for _, s := range doc.Skipped {
		if reasons[s.Reason]++; reasons[s.Reason] == 1 {
			fmt.Fprintf(c.Stdout, "  skipped: %s: %s\n", s.ID, text.OneLine(s.Reason))
		}
	}
	for _, s := range doc.Shards {
		fmt.Fprintf(c.Stdout, "  shard %s: %d cells", s.Shard, len(s.Cells))
		if s.WallMS > 0 {
			fmt.Fprintf(c.Stdout, ", %.1f s by earlier runs", s.WallMS/1000)
		}
		fmt.Fprintln(c.Stdout)
	}
	if e := doc.Expected; e != nil {
		fmt.Fprintf(c.Stdout, "  expected: %.1f s for the longest shard, at least %.1f s however they are packed (%.3f x)\n", e.MakespanMS/1000, e.BoundMS/1000, e.Ratio)
		if e.UnknownCells > 0 {
			fmt.Fprintf(c.Stdout, "  %s not in earlier runs, counted as the median of the others\n", text.Plural(e.UnknownCells, "cell"))
		}
	}
	t := verdict.Typing{Options: p.Options, File: p.File}
	_ = verdict.Next(c.Stdout, "print the ids, or measure them", string(t.Planned("accelgate plan")+" --list"), string(t.Planned("accelgate run")))
}

// job is one job of a workflow's matrix.
type job struct {
	Host   string   `json:"host"`
	RunsOn []string `json:"runs-on"`
	Shard  string   `json:"shard"` // "" for the whole
	Cells  int      `json:"cells"`
	// Minutes is how long the job is expected to measure; absent if unknown.
	Minutes float64 `json:"minutes,omitempty"`
}

// printMatrix prints one job for each runner and shard.
func (c *Command) printMatrix(ctx context.Context, o *planning) error {
	file, _, err := c.env().Load(&o.Options)
	if err != nil {
		return err
	}
	if len(file.Runners) == 0 {
		return exit.Usagef("--github-matrix: %s has no runners: add \"runners: [{host: linux-cuda, runs_on: [self-hosted, cuda], shards: 2}]\"", o.Config)
	}
	include := []job{}
	for _, r := range file.Runners {
		one := o.Options
		one.HostLabel, one.Shard = r.Host, ""
		if _, known := device.FromLabel(r.Host); !known {
			c.warnAll([]string{fmt.Sprintf("the label %s does not name a kind of host, so its jobs are planned for this host: plan on such a host, or name runners such as linux-cuda-%s", r.Host, r.Host)})
		}
		p, err := c.planFor(ctx, &one)
		if err != nil {
			return err
		}
		split, err := o.split(p, r.Shards)
		p.Close()
		if err != nil {
			return err
		}
		c.warnAll(o.warning(split))
		shards := len(split.Shards)
		for i, s := range split.Shards {
			j := job{Host: r.Host, RunsOn: r.RunsOn, Cells: len(s.Cells), Minutes: math.Ceil(s.Time.Minutes()*10) / 10}
			if j.RunsOn == nil {
				j.RunsOn = []string{"self-hosted", r.Host}
			}
			if shards > 1 {
				j.Shard = fmt.Sprintf("%d/%d", i+1, shards)
			}
			include = append(include, j)
		}
	}
	data, err := json.Marshal(map[string]any{"include": include})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Stdout, "%s\n", data)
	return err
}
