package endpoint

import (
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
)

// files returns the files that are read.
func files(c *config.Suite, dir string) ([]string, error) {
	b, err := read(c)
	if err != nil {
		return nil, err
	}
	return suite.Within(dir, append([]string{b.Dataset.Path, b.Request.JSONSchema}, b.Request.Files...)...), nil
}
