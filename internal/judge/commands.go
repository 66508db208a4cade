package judge

import (
	"slices"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// Typing is what printed commands repeat of a command line: without it, they would
// be about another configuration, host or part of the matrix.
type Typing struct {
	Options  *measure.Options
	File     *config.File
	NextBase string // what measuring found for --ab; "" if nothing was measured
}

// lines returns the lines of the configuration at which its suites begin, by the names of suites.
func (t *Typing) lines() map[string]int {
	if t == nil {
		return nil
	}
	lines := map[string]int{}
	for i := range t.File.Suites {
		lines[t.File.Suites[i].Name] = t.File.Suites[i].Line
	}
	return lines
}

// Line is a command with its flags.
type Line string

// Add adds a flag once for each value that is not empty, quoted for a shell.
func (l Line) Add(flag string, values ...string) Line {
	for _, v := range values {
		if v != "" {
			l += Line(" " + flag + " " + text.ShellWord(v))
		}
	}
	return l
}

// common are the flags that every command on a configuration and a host takes.
func (t *Typing) common(command, label string) Line {
	l := t.configured(command).Add("--host-label", label)
	return l.Add("--baseline", t.Options.Baseline)
}

func (t *Typing) configured(command string) Line {
	l := Line(command)
	if t.Options.Config != measure.DefaultConfig {
		l = l.Add("--config", t.Options.Config)
	}
	return l
}

// parts are the flags that choose what is measured, but for single cells.
func (l Line) parts(o *measure.Options) Line {
	l = l.List("--suite", o.Suites).Add("--profile", o.Profile)
	return l.List("--tags", o.Tags).List("--skip-tags", o.SkipTags)
}

// List adds a flag whose values are separated by commas.
func (l Line) List(flag string, values []string) Line {
	if len(values) == 0 {
		return l
	}
	return l.Add(flag, strings.Join(values, ","))
}

// conditions adds the flags that decide where and how cells are measured and judged.
func (l Line) conditions(o *measure.Options) Line {
	l = l.Add("--model-dir", o.ModelDir).List("--devices", o.Devices).Add("--health", o.Health)
	return l.Add("--history", o.History).Add("--threshold", o.Threshold).Add("--out", o.Out)
}

// decided are the flags that change the exit code of a command which follows from the decision.
func (l Line) decided(o *measure.Options) Line {
	if o.RequireBaseline {
		l += " --require-baseline"
	}
	if o.Strict {
		l += " --strict"
	}
	return l
}

// selected are the flags that choose single cells.
func (l Line) selected(o *measure.Options) Line {
	l = l.Add("--only", o.Only...).Add("--skip", o.Skip...)
	if o.MaxCells > 0 {
		l = l.Add("--max-cells", strconv.Itoa(o.MaxCells))
	}
	if l = l.Add("--shard", o.Shard); o.Shard != "" {
		l = l.Add("--durations", o.Durations...)
	}
	return l
}

// demonstrated are the flags that make the embedded engine slow or wrong.
func (l Line) demonstrated(o *measure.Options) Line {
	return l.Add("--inject-slowdown", o.InjectSlowdown).Add("--weight-seed", o.WeightSeed)
}

// Commands are those that are printed about a run of a host.
func (t *Typing) Commands(getenv func(string) string, r *bench.Run) report.Commands {
	if t == nil {
		return report.Commands{}
	}
	o, h, label := t.profiled(r), r.Host, t.label(getenv, r.Host)
	run := func(l Line) Line { return l.parts(o).conditions(o).decided(o).demonstrated(o) }
	update := func(l Line) Line { return l.parts(o).conditions(o) }
	prune := t.common("accelgate baseline prune", label).Add("--model-dir", o.ModelDir)
	anchor := t.common("accelgate baseline anchor", label)
	if o.Reference(t.File).Remote() {
		there := "BASELINES-CHECKOUT/" + o.Reference(t.File).PathOf(h)
		if t.File.Baselines.Stored() {
			there = o.OutPath(t.File, o.Reference(t.File).PathOf(h))
		}
		prune, anchor = prune.Add("--baseline", there), anchor.Add("--baseline", there)
	}
	if o.Reference(t.File).FromHistory() {
		prune = update(t.common("accelgate baseline update", label)) + ` --reason "cells were removed" --force`
	}
	return report.Commands{
		Run:      string(run(t.common("accelgate run", label)).selected(o)),
		Cell:     string(run(t.common("accelgate run", label))),
		RunAs:    string(run(t.configured("accelgate run")).selected(o)),
		Update:   string(update(t.common("accelgate baseline update", label)).selected(o)),
		Record:   string(update(t.common("accelgate baseline update", label))),
		UpdateAs: string(update(t.configured("accelgate baseline update")).selected(o)),
		Prune:    string(prune),
		Anchor:   string(anchor),
		Refresh:  string(t.common("accelgate cases refresh", label).conditions(o)),
		Bisect: string(
			t.configured("accelgate bisect").Add("--host-label", label).Add("--model-dir", o.ModelDir).List("--devices", o.Devices),
		),
		Base: o.NextBase(t.File.Dir, t.NextBase),
		Dir:  t.File.Dir,
	}
}

// profiled are the options with the profile of a run that another command measured, and the suites that it measured:
// others may not have the profile.
func (t *Typing) profiled(r *bench.Run) *measure.Options {
	o := *t.Options
	if o.Profile != "" || r.Context[bench.Profile] == "" {
		return &o
	}
	o.Profile = r.Context[bench.Profile]
	var measured []string
	for _, s := range t.File.Suites {
		if slices.ContainsFunc(r.Results, func(res bench.Result) bool { return res.Cell.Suite == s.Name }) {
			measured = append(measured, s.Name)
		}
	}
	if len(measured) < len(t.File.Suites) {
		o.Suites = measured
	}
	return &o
}

// Planned is a command on the cells of a plan.
func (t *Typing) Planned(command string) Line {
	o := t.Options
	return t.configured(command).Add("--host-label", o.HostLabel).parts(o).Add("--model-dir", o.ModelDir).selected(o)
}

// Recording is a command on the baseline of the plan's host, for some cells.
func (t *Typing) Recording(command string, only []string) Line {
	return t.common(command, t.Options.HostLabel).Add("--model-dir", t.Options.ModelDir).Add("--only", only...)
}

// label is the host's, where a command without it would take another one.
func (t *Typing) label(getenv func(string) string, h bench.Host) string {
	if getenv("ACCELGATE_HOST_LABEL") == "" {
		switch {
		case t.File.Host.Label == h.Label:
			return ""
		case t.File.Host.Label == "" && h.Label == device.Derived(h.Fingerprint):
			return ""
		}
	}
	return h.Label
}
