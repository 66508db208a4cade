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
	if f, ok := floatOf(v); v.Kind == '0' && ok && f <= 0 {
		r.fail(v.At, "write the seconds that the command may take, or remove the key", "no command ends in %s seconds", describe(v))
		return 0
	}
	return r.amount(v)
}

// arguments reads a program and its arguments.
func (r *reader) arguments(v value) []string {
	const hint = `write the program and its arguments, such as ["python", "bench.py"]`
	args := r.texts(v, "./bench", r.passable)
	switch {
	case v.Kind != '[':
	case len(v.Members) == 0:
		r.fail(v.At, hint, "is empty")
	case v.Members[0].Value.Kind == '"':
		r.named(v.Members[0].Value, hint)
	}
	return args
}

// environment reads an object of variables.
func (r *reader) environment(v value) map[string]string {
	if v.Kind != '{' {
		r.fail(v.At, "write an object in braces", "want an object, got %s", describe(v))
		return nil
	}
	env := make(map[string]string, len(v.Members))
	for _, m := range v.Members {
		_, twice := env[m.Key]
		s, ok := r.textOf(m.Value)
		switch {
		case twice:
			r.fail(m.KeyAt, "remove one of the two", "is given twice")
		case m.Key == "" || strings.ContainsAny(m.Key, "=\x00"):
			r.fail(m.KeyAt, "write a name such as OMP_NUM_THREADS", "%s cannot name a variable", quote(m.Key))
		case ok:
			r.passable(m.Value)
		}
		env[m.Key] = s
	}
	return env
}

// passable checks a text that a program is given: no system passes a zero byte.
func (r *reader) passable(v value) bool {
	if strings.Contains(v.Text, "\x00") {
		r.fail(v.At, "remove it", "%s holds a zero byte", quote(v.Text))
		return false
	}
	return true
}
