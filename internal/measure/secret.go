package measure

import (
	"context"
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/measure/runner"
	"github.com/accelgate/accelgate/internal/worker"
)

// Secrets are texts that are taken out of all output and files.
type Secrets []string

// redacting takes secrets out of everything that a measurement yields. The
// worker hands none to a child, but a privileged child can look into this
// process, and what it prints is journalled, reported and posted.
type redacting struct {
	runner.Measurer
	secrets Secrets
}

// Measure measures the cell and hides the secrets in its result.
func (m redacting) Measure(ctx context.Context, cell bench.Cell, d bench.Device) (bench.Result, error) {
	r, err := m.Measurer.Measure(ctx, cell, d)
	r = redact(r, m.secrets.Hide)
	return r, m.secrets.Hidden(err)
}

// Hidden returns an error without the secrets in its text.
func (l Secrets) Hidden(err error) error {
	if err == nil {
		return nil
	}
	if text := err.Error(); l.Hide(text) != text {
		return hiddenError{err, l.Hide(text)}
	}
	return err
}

type hiddenError struct {
	error
	text string
}

func (e hiddenError) Error() string { return e.text }
func (e hiddenError) Unwrap() error { return e.error }

// hiding writes to w without the secrets. A secret that comes in two writes is
// not found: it backs up the writers that take secrets out themselves.
type hiding struct {
	secrets Secrets
	w       io.Writer
}

// Writer returns what writes to w without the secrets.
func (l Secrets) Writer(w io.Writer) io.Writer { return hiding{l, w} }

func (h hiding) Write(p []byte) (int, error) {
	if _, err := io.WriteString(h.w, h.secrets.Hide(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// minSecret is the length from which a secret is looked for: a shorter one, such
// as the "x" that local servers take for a key, would make holes in every text.
const minSecret = 6

// secrets are those that a measured program could have seen: the action's token,
// and the values of variables whose names are those of secrets. A privileged child
// can read this process's environment all the same.
func (c *Config) secrets() []string {
	list := []string{c.Options.Secret}
	for _, entry := range c.environ {
		if name, value, ok := strings.Cut(entry, "="); ok && len(value) >= minWithheld && worker.Secret(name) {
			list = append(list, value)
		}
	}
	return list
}

// minWithheld is longer than minSecret, because a variable may be called a
// key and hold a word.
const minWithheld = 12

// Hide returns a text without the secrets.
func (l Secrets) Hide(s string) string {
	for _, secret := range l {
		if len(secret) >= minSecret {
			s = strings.ReplaceAll(s, secret, "***")
		}
	}
	return s
}
