package cases

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
	"github.com/accelgate/accelgate/internal/text"
)

// flags returns the options of an input's settings, in the order in which
// msmodeling documents them. The error is of the case.
func (b *body) flags(in *input) ([]string, error) {
	k := in.command
	var args []string
	for _, key := range append(casefile.Keys(in.typ), compilation) {
		v, given := in.settings[key]
		if !given || k.passes(key) {
			continue
		}
		initial, known := k.initial(in.typ, key)
		if known && same(v, initial) {
			continue
		}
		flag := k.Flags[key]
		if flag == "" {
			return nil, fmt.Errorf("%s is %s and has no flag: add it to flags of the command, or to ignored if it changes no number%s",
				in.path(key), shown(v), b.orPreset())
		}
		option, ok := option(flag, v, known && argument(initial) != "" && argument(initial) != "false")
		if !ok {
			return nil, fmt.Errorf("%s is %s, which %s cannot express: add the value to a command of its own by when", in.path(key),
				shown(v), flag)
		}
		args = append(args, option...)
	}
	return args, nil
}

// passes reports whether the setting reaches the program without an option, or
// need not reach it.
func (k *command) passes(key string) bool {
	_, when := k.When[key]
	return when || k.used[key] || slices.Contains(k.Ignored, key)
}

// initial is what the program does without an option for the setting.
func (k *command) initial(typ, key string) (v any, known bool) {
	if own, ok := k.Defaults[key]; ok {
		return own, true
	}
	return casefile.Default(typ, key)
}

// option writes a setting for the command line. It is false for an absence or a
// no that the program would not understand, because its default is on.
func option(flag string, v any, on bool) (args []string, ok bool) {
	items := []any{v}
	switch v := v.(type) {
	case nil:
		return nil, !on
	case bool:
		if v {
			return []string{strings.TrimSuffix(flag, "=")}, true
		}
		return nil, !on
	case []any:
		items = v
	}
	if len(items) == 0 {
		return nil, !on
	}
	joined := strings.HasSuffix(flag, "=")
	if !joined {
		args = append(args, flag)
	}
	for _, item := range items {
		if joined {
			args = append(args, flag+argument(item))
		} else {
			args = append(args, argument(item))
		}
	}
	return args, true
}

// shown is a value in a message: short, and on one line.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return text.Quote(v, 60)
	case []any:
		items := make([]string, 0, len(v))
		for _, item := range v[:min(len(v), 8)] {
			items = append(items, shown(item))
		}
		if len(items) < len(v) {
			items = append(items, "...")
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return argument(v)
}
