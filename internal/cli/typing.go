package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/report"
)

// typing is what printed commands repeat of a command line: without it, they would
// be about another configuration, host or part of the matrix.
type typing struct {
	options *options
	file    *config.File
}

// line is a command with its flags.
type line string

func (l line) add(flag string, values ...string) line {
	for _, v := range values {
		if v != "" {
			l += line(" " + flag + " " + report.Word(v))
		}
	}
	return l
}

// common are the flags that every command on a configuration and a host takes.
func (t *typing) common(command, label string) line {
	l := t.configured(command).add("--host-label", label)
	return l.add("--baseline", t.options.baseline)
}

func (t *typing) configured(command string) line {
	l := line(command)
	if t.options.config != defaultConfig {
		l = l.add("--config", t.options.config)
	}
	return l
}

// parts are the flags that choose what is measured, but for single cells.
func (l line) parts(o *options) line {
	l = l.list("--suite", o.suites).add("--profile", o.profile)
	return l.list("--tags", o.tags).list("--skip-tags", o.skipTags)
}

// list adds a flag whose values are separated by commas.
func (l line) list(flag string, values []string) line {
	if len(values) == 0 {
		return l
	}
	return l.add(flag, strings.Join(values, ","))
}

// conditions are the flags that say where and how it is measured and judged.
func (l line) conditions(o *options) line {
	l = l.add("--model-dir", o.modelDir).list("--devices", o.devices).add("--health", o.health)
	l = l.add("--history", o.history).add("--threshold", o.threshold).add("--out", o.out)
	if o.requireBaseline {
		l += " --require-baseline"
	}
	return l
}

// selected are the flags that choose single cells.
func (l line) selected(o *options) line {
	l = l.add("--only", o.only...).add("--skip", o.skip...)
	if o.maxCells > 0 {
		l = l.add("--max-cells", strconv.Itoa(o.maxCells))
	}
	if l = l.add("--shard", o.shard); o.shard != "" {
		l = l.add("--durations", o.durations...)
	}
	return l
}

// demonstrated are the flags that make the embedded engine slow or wrong.
func (l line) demonstrated(o *options) line {
	return l.add("--inject-slowdown", o.injectSlowdown).add("--weight-seed", o.weightSeed)
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
		Prune:    string(t.common("accelgate baseline prune", label).add("--model-dir", o.modelDir)),
		Anchor:   string(t.common("accelgate baseline anchor", label)),
		Refresh:  string(t.common("accelgate cases refresh", label).conditions(o)),
		Bisect:   string(t.configured("accelgate bisect").add("--host-label", label).add("--model-dir", o.modelDir).list("--devices", o.devices)),
		Base:     o.nextBase(t.file.Dir),
		Dir:      t.file.Dir,
	}
}

// planned is a command on the cells of a plan.
func (t *typing) planned(command string) line {
	o := t.options
	return t.configured(command).add("--host-label", o.hostLabel).parts(o).add("--model-dir", o.modelDir).selected(o)
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

// next prints what to do next, and commands that do it on lines of their own: one
// that holds quotes cannot stand between quotes.
func next(w io.Writer, what string, commands ...string) error {
	_, err := fmt.Fprintf(w, "Next: %s:\n  %s\n", what, strings.Join(commands, "\n  "))
	return err
}

// reviewed is the command that shows what was written, whether git knows the file
// or not.
func reviewed(paths ...string) string {
	words := make([]string, 0, len(paths))
	for _, p := range paths {
		words = append(words, report.Word(p))
	}
	files := strings.Join(words, " ")
	return "git add -N " + files + " && git diff " + files
}
