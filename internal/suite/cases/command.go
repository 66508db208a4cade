package cases

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
)

// The command is a list of arguments, and no shell sees it. In each argument
// {SETTING} stands for a setting of the case, {name} for the case's name,
// {NAME} for a variable of the suite, {accelgate} for this program and {output}
// for a fresh folder. The item "{flags}" is replaced by the options of those
// settings that differ from what the program does without them. A setting that
// can be passed on in no way is an error of its case: a program that never
// learns of it would measure something else.

// flagsName is the placeholder of the spliced options.
const flagsName = "flags"

// scope is what the names in a template stand for.
type scope struct {
	in         *input
	vars       map[string]string
	executable string
	output     string
	used       map[string]bool // the settings that were looked up; nil where unused ones are not reported
}

// lookup returns what a name stands for. Its errors are of the template, if
// the type has no such setting, or else of the case.
func (s *scope) lookup(name string) (string, error) {
	switch name {
	case "accelgate":
		return s.executable, nil
	case "output":
		return s.output, nil
	case "name":
		return s.in.name, nil
	case flagsName:
		return "", fmt.Errorf("{%s} is a list: make it an argument of its own", name)
	}
	if value, ok := s.vars[name]; ok {
		return value, nil
	}
	keys := casefile.Keys(s.in.typ)
	if !slices.Contains(keys, name) {
		known := slices.Sorted(
			slices.Values(slices.Concat(keys, slices.Collect(maps.Keys(s.vars)), []string{"accelgate", "output", "name"})),
		)
		return "", fmt.Errorf("unknown placeholder {%s}%s: use one of %s", name, near(name, known), strings.Join(known, ", "))
	}
	if s.used != nil {
		s.used[name] = true
	}
	switch v := s.in.settings[name].(type) {
	case nil:
		return "", fmt.Errorf("%s has no value, and the command needs it: add it", s.in.path(name))
	case []any:
		return "", fmt.Errorf("%s is a list, and {%s} takes one value: pass it on by flags", s.in.path(name), name)
	default:
		return argument(v), nil
	}
}

// templates are the texts of the command that are filled in.
func (k *command) templates() []string {
	return slices.AppendSeq(slices.Clone(k.Command), maps.Values(k.Env))
}

// try fills in everything that is a template once, for a case all of whose
// settings have a value, and says what is wrong with the configuration. It
// notes which settings are used.
func (b *body) try(k *command) error {
	k.used = map[string]bool{}
	settings := map[string]any{}
	for _, key := range casefile.Keys(k.Type) {
		settings[key] = "x"
	}
	sc := scope{in: &input{typ: k.Type, settings: settings}, vars: b.Vars, output: "output", used: k.used}
	_, err := sc.arguments(k.Command, nil)
	_, envErr := sc.environment(k)
	return errors.Join(err, envErr)
}

// arguments fills in a command, with the options of settings at {flags}.
func (s *scope) arguments(template, flags []string) ([]string, error) {
	splice := func(item string) ([]string, bool, error) { return flags, item == "{"+flagsName+"}", nil }
	return suite.FillCommand(template, splice, s.lookup)
}

// environment fills in what the command sets.
func (s *scope) environment(k *command) ([]string, error) {
	filled := make(map[string]string, len(k.Env))
	for _, name := range slices.Sorted(maps.Keys(k.Env)) {
		value, err := suite.Fill(k.Env[name], s.lookup)
		if err != nil {
			return nil, fmt.Errorf("env.%s %q: %w", name, k.Env[name], err)
		}
		filled[name] = value
	}
	return suite.Entries(filled), nil
}

// choose finds the command for an input that has none of its own.
func (b *body) choose(in *input) {
	if in.command != nil || in.problem != "" {
		return
	}
	var whens []string
	for i := range b.Commands {
		k := &b.Commands[i]
		switch {
		case k.Type != in.typ:
		case k.fits(in):
			in.command = k
			return
		default:
			whens = append(whens, k.condition())
		}
	}
	if whens == nil {
		in.fail(fmt.Sprintf("no command is for %s cases: add one to commands%s", in.typ, b.orPreset()))
		return
	}
	in.fail(fmt.Sprintf("no command fits: those for %s cases are for %s: correct the case, or add one to commands%s", in.typ,
		strings.Join(whens, ", or for "), b.orPreset()))
}

// orPreset is a further next step: the preset may be the default one.
func (b *body) orPreset() string {
	if b.Preset == "" {
		return ""
	}
	return fmt.Sprintf(", or name another preset than %s", b.Preset)
}

// fits reports whether the case has all settings of when.
func (k *command) fits(in *input) bool {
	for key, want := range k.When {
		if v, ok := in.settings[key]; !ok || !same(v, want) {
			return false
		}
	}
	return true
}

// condition writes when for a message.
func (k *command) condition() string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(k.When)) {
		parts = append(parts, key+" "+k.When[key])
	}
	return strings.Join(parts, " and ")
}
