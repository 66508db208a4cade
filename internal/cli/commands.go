package cli

import (
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// typing is what printed commands repeat of a command line: without it, they would
// be about another configuration, host or part of the matrix.
type typing struct {
	options *measure.Options
	file    *config.File
}

// line is a command with its flags.
type line string

func (l line) add(flag string, values ...string) line {
	for _, v := range values {
		if v != "" {
			l += line(" " + flag + " " + text.ShellWord(v))
		}
	}
	return l
}

// common are the flags that every command on a configuration and a host takes.
func (t *typing) common(command, label string) line {
	l := t.configured(command).add("--host-label", label)
	return l.add("--baseline", t.options.Baseline)
}

func (t *typing) configured(command string) line {
	l := line(command)
	if t.options.Config != measure.DefaultConfig {
		l = l.add("--config", t.options.Config)
	}
	return l
}

// parts are the flags that choose what is measured, but for single cells.
func (l line) parts(o *measure.Options) line {
	l = l.list("--suite", o.Suites).add("--profile", o.Profile)
	return l.list("--tags", o.Tags).list("--skip-tags", o.SkipTags)
}

// list adds a flag whose values are separated by commas.
func (l line) list(flag string, values []string) line {
	if len(values) == 0 {
		return l
	}
	return l.add(flag, strings.Join(values, ","))
}

// conditions are the flags that say where and how it is measured and judged.
func (l line) conditions(o *measure.Options) line {
	l = l.add("--model-dir", o.ModelDir).list("--devices", o.Devices).add("--health", o.Health)
	l = l.add("--history", o.History).add("--threshold", o.Threshold).add("--out", o.Out)
	if o.RequireBaseline {
		l += " --require-baseline"
	}
	return l
}

// selected are the flags that choose single cells.
func (l line) selected(o *measure.Options) line {
	l = l.add("--only", o.Only...).add("--skip", o.Skip...)
	if o.MaxCells > 0 {
		l = l.add("--max-cells", strconv.Itoa(o.MaxCells))
	}
	if l = l.add("--shard", o.Shard); o.Shard != "" {
		l = l.add("--durations", o.Durations...)
	}
	return l
}

// demonstrated are the flags that make the embedded engine slow or wrong.
func (l line) demonstrated(o *measure.Options) line {
	return l.add("--inject-slowdown", o.InjectSlowdown).add("--weight-seed", o.WeightSeed)
}

// commands are those that are printed about a run of a host.
func (t *typing) commands(getenv func(string) string, h bench.Host) report.Commands {
	if t == nil {
		return report.Commands{}
	}
	o, label := t.options, t.label(getenv, h)
	run := func(l line) line { return l.parts(o).conditions(o).demonstrated(o) }
	update := func(l line) line { return l.parts(o).conditions(o) }
	return report.Commands{
		Run:      string(run(t.common("accelgate run", label)).selected(o)),
		Cell:     string(run(t.common("accelgate run", label))),
		RunAs:    string(run(t.configured("accelgate run")).selected(o)),
		Update:   string(update(t.common("accelgate baseline update", label)).selected(o)),
		UpdateAs: string(update(t.configured("accelgate baseline update")).selected(o)),
		Prune:    string(t.common("accelgate baseline prune", label).add("--model-dir", o.ModelDir)),
		Anchor:   string(t.common("accelgate baseline anchor", label)),
		Refresh:  string(t.common("accelgate cases refresh", label).conditions(o)),
		Base:     o.NextBase(t.file.Dir),
		Dir:      t.file.Dir,
	}
}

// planned is a command on the cells of a plan.
func (t *typing) planned(command string) line {
	o := t.options
	return t.configured(command).add("--host-label", o.HostLabel).parts(o).add("--model-dir", o.ModelDir).selected(o)
}

// label is the host's, where a command without it would take another one.
func (t *typing) label(getenv func(string) string, h bench.Host) string {
	if getenv("ACCELGATE_HOST_LABEL") == "" {
		switch {
		case t.file.Host.Label == h.Label:
			return ""
		case t.file.Host.Label == "" && h.Label == device.Derived(h.Fingerprint):
			return ""
		}
	}
	return h.Label
}
