package kernels

import (
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
)

// files returns the evaluation settings and the dataset.
func files(c *config.Suite, dir string) ([]string, error) {
	b, err := read(c)
	if err != nil {
		return nil, err
	}
	return suite.Within(dir, b.Config, b.Dataset), nil
}
