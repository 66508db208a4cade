package casefile

import "strings"

// command reads one key that only command cases have.
func (r *reader) command(c *Case, key string, v value) {
	switch key {
	case "command":
		c.Command = r.arguments(v)
	case "env":
		c.Env = r.environment(v)
	case "tags":
		c.Tags = r.texts(v, "nightly", func(v value) bool {
			_, ok := r.named(v, "write a word such as nightly, or remove it")
			return ok
		})
	case "format":
		c.Format, _ = r.textOf(v)
	case "timeout_s":
		c.TimeoutS = r.timeout(v)
	}
}

func (r *reader) timeout(v value) float64 {
	if f, ok := v.float(); v.kind == '0' && ok && f <= 0 {
		r.fail(v.at, "write the seconds that the command may take, or remove the key", "no command ends in %s seconds", v.describe())
		return 0
	}
	return r.amount(v)
}

// arguments reads a program and its arguments.
func (r *reader) arguments(v value) []string {
	const hint = `write the program and its arguments, such as ["python", "bench.py"]`
	args := r.texts(v, "./bench", r.passable)
	switch {
	case v.kind != '[':
	case len(v.members) == 0:
		r.fail(v.at, hint, "is empty")
	case v.members[0].value.kind == '"':
		r.named(v.members[0].value, hint)
	}
	return args
}

// environment reads an object of variables.
func (r *reader) environment(v value) map[string]string {
	if v.kind != '{' {
		r.fail(v.at, "write an object in braces", "want an object, got %s", v.describe())
		return nil
	}
	env := make(map[string]string, len(v.members))
	for _, m := range v.members {
		_, twice := env[m.key]
		s, ok := r.textOf(m.value)
		switch {
		case twice:
			r.fail(m.at, "remove one of the two", "is given twice")
		case m.key == "" || strings.ContainsAny(m.key, "=\x00"):
			r.fail(m.at, "write a name such as OMP_NUM_THREADS", "%s cannot name a variable", quote(m.key))
		case ok:
			r.passable(m.value)
		}
		env[m.key] = s
	}
	return env
}

// passable checks a text that a program is given: no system passes a zero byte.
func (r *reader) passable(v value) bool {
	if strings.Contains(v.text, "\x00") {
		r.fail(v.at, "remove it", "%s holds a zero byte", quote(v.text))
		return false
	}
	return true
}
