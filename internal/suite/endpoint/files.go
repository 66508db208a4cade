package endpoint

import (
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
)

// files returns the file of the dataset, if it has one.
func files(c *config.Suite, dir string) ([]string, error) {
	b, err := read(c)
	if err != nil {
		return nil, err
	}
	return suite.Within(dir, b.Dataset.Path), nil
}
