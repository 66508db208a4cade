package analysis

import (
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
)

// files returns the files of lengths.
func files(c *config.Suite, dir string) ([]string, error) {
	b, err := read(c)
	if err != nil || b.Packing == nil {
		return nil, err
	}
	var names []string
	for _, l := range b.Packing.Lengths {
		names = append(names, l.File)
	}
	return suite.Within(dir, names...), nil
}
