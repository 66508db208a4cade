package tensorsharp

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Options is what a matrix-config.json does not say. The zero value translates
// for the working folder.
type Options struct {
	// WorkDir is the working folder, which relative paths of the configuration
	// and of these options count from, as in TensorSharp. "" is that of this
	// process, or Dir if that is absolute.
	WorkDir string
	// Dir is the folder of the accelgate.yaml, which its relative paths count
	// from; "" is the working folder.
	Dir      string
	ModelDir string // in place of the configuration's
	CLI      string // TensorSharp.Cli, in place of the configuration's
	Inputs   string // folder of prompts, tools, multi_turn and media
}

// YAML returns the accelgate.yaml that means the same as the configuration,
// over the preset tensorsharp, and what of it has no effect, one sentence each.
// It looks which of the named files exist and opens none.
//
// Where TensorSharp.TestMatrix does something that its user cannot have meant,
// the result differs, without changing any case id:
//
//   - A disabled model stays disabled: its file is not discovered either.
//   - Discovery leaves out files that an enabled model names, whatever its id,
//     so that no file is measured under two ids. It takes only the first part
//     of a model in several files, and hands a projector (mmproj) only to
//     models of families that take images. The models kind sees to that.
//   - A backend, feature or variable that is listed twice counts once.
//   - An unknown one is not dropped here; the models kind complains about it.
//
// As in TensorSharp, an enabled model whose file is missing is left out and a
// projector that is missing is left out of its model, each with a warning.
// Letter case does not matter in backends and features. An empty list leaves
// the choice to the preset, which then takes all that TensorSharp registered at
// commit 4d29dd2b. Neither skip_existing nor the results' paths have an
// equivalent in accelgate.yaml.
//
// TensorSharp looks for its program and inputs beside its own binary; here they
// are looked for in the working folder as in TensorSharp's repository.
//
// The error says that one of two folders is absolute and the other is not.
func (c *Config) YAML(o Options) (text []byte, warnings []string, err error) {
	if o.WorkDir == "" && filepath.IsAbs(o.Dir) {
		o.WorkDir = o.Dir
	}
	t := &translation{Config: c, o: o, modelDir: cmp.Or(o.ModelDir, c.ModelDir)}
	models := t.models()
	if t.modelDir == "" && len(models) == 0 { // which a report of an earlier run does not need
		t.warn("names no folder of models: add model_dir, or pass --model-dir")
	}
	t.frame()
	t.vars()
	t.discover(len(models) > 0)
	t.writeModels(models)
	t.exclude(models)
	t.selection()
	return t.text.Bytes(), t.warnings, t.err
}

// translation is one call of YAML.
type translation struct {
	*Config
	o        Options
	modelDir string
	text     bytes.Buffer
	warnings []string
	err      error
}

func (t *translation) warn(format string, args ...any) {
	t.warnings = append(t.warnings, plain(t.name)+": "+fmt.Sprintf(format, args...))
}

func (t *translation) line(format string, args ...any) {
	fmt.Fprintf(&t.text, format+"\n", args...)
}

func (t *translation) frame() {
	t.line("# Written by accelgate from %s.", plain(t.name))
	t.line("version: 1")
	t.line("baselines: %s", scalar(t.written(t.BaselinesDir)))
	t.line("policy:")
	t.line("  threshold: %s%%", strconv.FormatFloat(t.RegressionThresholdPct, 'f', -1, 64))
	t.line("  # compat: tensorsharp # applies TensorSharp's own rules to the letter")
	t.line("suites:")
	t.line("  - name: tensorsharp")
	t.line("    kind: models")
	t.line("    preset: tensorsharp")
	t.line("    timeout: %ds", t.TimeoutSeconds)
}

func (t *translation) vars() {
	t.line("    vars:")
	t.line("      cli: %s", scalar(t.program()))
	inputs := t.inputs()
	t.line("      inputs: %s", scalar(t.written(inputs)))
	for _, m := range []struct{ kind, file string }{{"image", "apple.png"}, {"audio", "sample.mp3"}, {"video", "sample.mp4"}} {
		t.line("      %s: %s", m.kind, scalar(t.written(t.media(inputs, m.file))))
	}
	t.line("      warmup_runs: \"%d\"", t.WarmupRuns)
	t.line("      benchmark_runs: \"%d\"", t.BenchmarkRuns)
}

// discover writes where models are looked for. TensorSharp goes on without the
// folder, and so do we if there are other models.
func (t *translation) discover(others bool) {
	switch {
	case t.modelDir == "":
		return
	case others && !isFolder(t.opened(t.modelDir)):
		t.warn("the folder of models %s does not exist, so only the models that are listed are measured: create it, or correct model_dir",
			quote(t.modelDir))
		return
	}
	t.line("    discover:")
	t.line("      dir: %s", scalar(t.written(t.modelDir)))
}

// selection writes the lists in their order, which is that of the cells.
func (t *translation) selection() {
	var lines []string
	add := func(key, member string, list []string) {
		if len(list) > 0 {
			lines = append(lines, fmt.Sprintf("      %s: [%s]", key, strings.Join(t.items(member, list), ", ")))
		}
	}
	add("backends", "default_backends", lowered(t.DefaultBackends))
	add("features", "default_features", lowered(t.DefaultFeatures))
	add("sweeps", "default_env_vars", t.DefaultEnvVars)
	if len(lines) > 0 {
		t.line("    select:\n%s", strings.Join(lines, "\n"))
	}
}

// items quotes the names of a list. A pattern would select what TensorSharp
// does not.
func (t *translation) items(member string, list []string) []string {
	quoted := []string{} // for "none"
	var seen []string
	for _, s := range list {
		switch {
		case member == "default_env_vars" && s == "none" && len(list) == 1:
			continue // TensorSharp has no such variable and measures none
		case slices.Contains(seen, s):
			t.warn("%s lists %s twice, and it is measured once: remove one", member, quote(s))
			continue
		case s == "" || strings.ContainsAny(s, "*?"):
			t.warn("%s: %s is not a name: remove it", member, quote(s))
			continue
		}
		seen = append(seen, s)
		quoted = append(quoted, scalar(s))
	}
	return quoted
}

func lowered(list []string) []string {
	lower := make([]string, 0, len(list))
	for _, s := range list {
		lower = append(lower, strings.ToLower(s))
	}
	return lower
}

// scalar writes text as a double-quoted YAML scalar. Every escape of Go is one
// of YAML, and none of its other characters means anything between quotes.
func scalar(s string) string { return strconv.Quote(strings.ToValidUTF8(s, "\ufffd")) }

// opened is a path of the configuration as this process opens it.
func (t *translation) opened(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(t.o.WorkDir, path)
}

// written is a path of the configuration as accelgate.yaml names it.
func (t *translation) written(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	path = t.opened(path)
	dir := cmp.Or(t.o.Dir, t.o.WorkDir, ".")
	rel, err := filepath.Rel(dir, path)
	if err != nil && t.err == nil {
		t.err = fmt.Errorf("%s: cannot name %s from the folder %s: write absolute paths into the configuration", plain(t.name), quote(path),
			quote(dir))
	}
	return rel
}
