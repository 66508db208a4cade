package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/runner"
)

// redacting takes a secret out of everything that a measurement yields. The
// worker hands none to a child, but a privileged child can look into this
// process, and what it prints is journalled, reported and posted.
type redacting struct {
	runner.Measurer
	secrets []string
}

// Measure measures the cell and hides the secret in its result.
func (m redacting) Measure(ctx context.Context, cell bench.Cell, d bench.Device) (bench.Result, error) {
	r, err := m.Measurer.Measure(ctx, cell, d)
	for _, s := range []*string{&r.Reason, &r.Output, &r.Log, &r.Doubt} {
		*s = m.hide(*s)
	}
	r.Command = slices.Clone(r.Command)
	for i := range r.Command {
		r.Command[i] = m.hide(r.Command[i])
	}
	for i := range r.Warnings {
		r.Warnings[i] = m.hide(r.Warnings[i])
	}
	for name, value := range r.Context {
		r.Context[name] = m.hide(value)
	}
	for i := range r.Breakdowns {
		for j := range r.Breakdowns[i].Entries {
			e := &r.Breakdowns[i].Entries[j]
			e.Name = m.hide(e.Name)
		}
	}
	return r, err
}

// leastSecret is the length from which a secret is looked for: a shorter one, such
// as the "x" that local servers take for a key, would make holes in every text.
const leastSecret = 6

func (m redacting) hide(s string) string {
	for _, secret := range m.secrets {
		if len(secret) >= leastSecret {
			s = strings.ReplaceAll(s, secret, "***")
		}
	}
	return s
}
