package cli

import (
	"context"
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/runner"
	"github.com/accelgate/accelgate/internal/worker"
)

// secretList are texts that are taken out of what is printed and kept.
type secretList []string

// redacting takes secrets out of everything that a measurement yields. The
// worker hands none to a child, but a privileged child can look into this
// process, and what it prints is journalled, reported and posted.
type redacting struct {
	runner.Measurer
	secrets secretList
}

// measurer measures by m and hides the secrets in its results.
func (l secretList) measurer(m runner.Measurer) runner.Measurer { return redacting{m, l} }

// Measure measures the cell and hides the secrets in its result.
func (m redacting) Measure(ctx context.Context, cell bench.Cell, d bench.Device) (bench.Result, error) {
	r, err := m.Measurer.Measure(ctx, cell, d)
	r = redact(r, m.secrets.hide)
	return r, m.secrets.hidden(err)
}

// hidden returns an error without the secrets in its text.
func (l secretList) hidden(err error) error {
	if err == nil {
		return nil
	}
	if text := err.Error(); l.hide(text) != text {
		return hiddenError{err, l.hide(text)}
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
// not found: it stands behind those who take secrets out of what they write.
type hiding struct {
	secrets secretList
	w       io.Writer
}

// writer returns what writes to w without the secrets.
func (l secretList) writer(w io.Writer) io.Writer { return hiding{l, w} }

func (h hiding) Write(p []byte) (int, error) {
	if _, err := io.WriteString(h.w, h.secrets.hide(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// leastSecret is the length from which a secret is looked for: a shorter one, such
// as the "x" that local servers take for a key, would make holes in every text.
const leastSecret = 6

// secrets are those that a measured program could have seen: the action's token,
// and the values of variables whose names are those of secrets. A privileged child
// can read this process's environment all the same.
func (p *plan) secrets() []string {
	list := []string{p.options.secret}
	for _, entry := range p.environ {
		if name, value, ok := strings.Cut(entry, "="); ok && len(value) >= leastWithheld && worker.Secret(name) {
			list = append(list, value)
		}
	}
	return list
}

// leastWithheld is longer than leastSecret, because a variable may be called a
// key and hold a word.
const leastWithheld = 12

// hide returns a text without the secrets.
func (l secretList) hide(s string) string {
	for _, secret := range l {
		if len(secret) >= leastSecret {
			s = strings.ReplaceAll(s, secret, "***")
		}
	}
	return s
}
