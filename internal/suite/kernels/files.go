package kernels

import (
	"path/filepath"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
)

// files returns the evaluation settings, and the folders of the dataset that judge.
// Its solutions are the code under test.
func files(c *config.Suite, dir string) ([]string, error) {
	b, err := read(c)
	if err != nil {
		return nil, err
	}
	names := []string{b.Config}
	if b.Dataset != "" {
		for _, folder := range []string{"definitions", "workloads", "blob"} {
			names = append(names, filepath.Join(b.Dataset, folder))
		}
	}
	return suite.Within(dir, names...), nil
}
