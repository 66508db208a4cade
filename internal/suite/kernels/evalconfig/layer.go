package evalconfig

import (
	"fmt"
	"strconv"
	"strings"
)

// layer is one of those that values are laid over each other in.
type layer struct {
	Run
	eval
	origin func(path string) string // of the value at path in the layer
}

// global returns the top level of the file. What is deprecated there is part of
// extra.
func (f *File) global() layer {
	l := layer{Run: f.body.Run, eval: eval{Settings: f.body.Settings, Outputs: f.body.Outputs, Extra: map[string]string{}}}
	if v := f.body.SamplingValidationTrials; v != nil {
		l.Extra[extraTrials] = strconv.Itoa(*v)
	}
	if v := f.body.SamplingTVDThreshold; v != nil {
		l.Extra[extraTVD] = strconv.FormatFloat(*v, 'g', -1, 64)
	}
	l.origin = func(path string) string { return f.origin(strings.TrimPrefix(path, "extra."), "") }
	return l
}

// section returns the named part of op_type_config or definition_config; the
// group has its name too.
func (f *File) section(group string, sections map[string]eval, name string) layer {
	at := element(group, name)
	return layer{eval: sections[name], origin: func(path string) string { return f.origin(at+"."+path, " "+at) }}
}

// origin returns "FILE:LINE", or "bundled", and the section.
func (f *File) origin(path, section string) string {
	if f.bundled {
		return "bundled" + section
	}
	return fmt.Sprintf("%s:%d%s", f.name, f.doc.Position(path).Line, section)
}

// layer returns what the flags say.
func (o Overrides) layer() layer {
	return layer{Run: o.Run, eval: eval{Settings: o.Settings}, origin: flag}
}

// flag names the flag that sets a value.
func flag(path string) string {
	switch path {
	case "timeout_seconds":
		return "--timeout"
	case "profile_baseline":
		return "--no-profile-baseline"
	}
	return "--" + strings.ReplaceAll(path, "_", "-")
}

// builtin are the defaults of FlashInfer-Bench, but for the mode. Tolerances
// depend on the mode and are filled in last.
func builtin() layer {
	isolated, profile, mode := false, true, strict
	timeout, warmup, iterations, trials := 300, 10, 50, 3
	return layer{
		Run:    Run{UseIsolatedRunner: &isolated, TimeoutSeconds: &timeout, ProfileBaseline: &profile},
		eval:   eval{Settings: Settings{Mode: &mode, WarmupRuns: &warmup, Iterations: &iterations, NumTrials: &trials}},
		origin: func(string) string { return builtIn },
	}
}

// sections returns what f says of a definition, by its op type and by its name.
func (f *File) sections(definition, opType string) []layer {
	return []layer{
		f.section("op_type_config", f.body.OpTypeConfig, opType),
		f.section("definition_config", f.body.DefinitionConfig, definition),
	}
}

// element writes a path the way [config.Suite.Position] reads it.
func element(path, key string) string {
	if key == "" || strings.IndexFunc(key, func(r rune) bool { return !identifier(r) }) >= 0 {
		return path + "[" + strconv.Quote(key) + "]"
	}
	return path + "." + key
}

func identifier(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}
