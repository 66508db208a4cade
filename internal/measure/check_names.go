package measure

import (
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
)

// checkNames refuses unknown kinds, and names in --suite that no suite has.
func (p *Plan) checkNames() error {
	var names []string
	for i := range p.File.Suites {
		s := &p.File.Suites[i]
		names = append(names, s.Name)
		if _, ok := p.kinds[s.Kind]; !ok {
			return s.Errorf("kind", "unknown kind %q: use one of %s", s.Kind, strings.Join(slices.Sorted(maps.Keys(p.kinds)), ", "))
		}
	}
	for _, name := range p.Options.Suites {
		if !slices.Contains(names, name) {
			return exit.Usagef("--suite: %s has no suite %q: it has %s", p.Options.Config, name, strings.Join(names, ", "))
		}
	}
	return nil
}

// checkHost refuses a --suite that the configuration leaves to other hosts.
func (p *Plan) checkHost() error {
	if len(p.Options.Suites) == 0 || p.Options.Measures(p.File, p.Host.Label) {
		return nil
	}
	return exit.Usagef("--suite: %s leaves %s to other hosts than %s: choose another suite, or correct suites of the host in runners",
		p.Options.Config, strings.Join(p.Options.Suites, ", "), p.Host.Label)
}

// Measures reports whether a host measures any of the chosen suites.
func (o *Options) Measures(file *config.File, host string) bool {
	return slices.ContainsFunc(file.Suites, func(s config.Suite) bool { return o.Wants(file, host, s.Name) })
}

// Wants reports whether a host measures a suite, and --suite chose it.
func (o *Options) Wants(file *config.File, host, suite string) bool {
	return file.Measures(host, suite) && (len(o.Suites) == 0 || slices.Contains(o.Suites, suite))
}
