package measure

import (
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
)

// checkNames refuses unknown kinds, and names in --suite that no suite has.
func (c *Config) checkNames() error {
	var names []string
	for i := range c.File.Suites {
		s := &c.File.Suites[i]
		names = append(names, s.Name)
		if _, ok := c.kinds[s.Kind]; !ok {
			return s.Errorf("kind", "unknown kind %q: use one of %s", s.Kind, strings.Join(slices.Sorted(maps.Keys(c.kinds)), ", "))
		}
	}
	for _, name := range c.Options.Suites {
		if !slices.Contains(names, name) {
			return exit.Usagef("--suite: %s has no suite %q: it has %s", c.Options.Config, name, strings.Join(names, ", "))
		}
	}
	return nil
}

// checkHost refuses a --suite that the configuration leaves to other hosts.
func (c *Config) checkHost() error {
	if len(c.Options.Suites) == 0 || c.Options.Measures(c.File, c.Host.Label) {
		return nil
	}
	return exit.Usagef("--suite: %s leaves %s to other hosts than %s: choose another suite, or correct suites of the host in runners",
		c.Options.Config, strings.Join(c.Options.Suites, ", "), c.Host.Label)
}

// Measures reports whether a host measures any of the chosen suites.
func (o *SelectOptions) Measures(file *config.File, host string) bool {
	return slices.ContainsFunc(file.Suites, func(s config.Suite) bool { return o.Wants(file, host, s.Name) })
}

// Wants reports whether a host measures a suite, and --suite chose it.
func (o *SelectOptions) Wants(file *config.File, host, suite string) bool {
	return file.Measures(host, suite) && (len(o.Suites) == 0 || slices.Contains(o.Suites, suite))
}
