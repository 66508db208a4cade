package models

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/worker"
)

// steps is what makes one number of several; nil where the metric is one.
func (m *metric) steps() (*formats.Reduction, error) {
	if len(m.Steps) == 0 {
		return nil, nil
	}
	return formats.ParseSteps(m.Steps, func(text string) (formats.Tolerance, error) {
		t := &tolerance{}
		err := t.UnmarshalText([]byte(text))
		return t, err
	})
}

// record reads the recorded outputs that steps are compared with.
func (s *Suite) record(c *config.Suite) error {
	err := s.reader.metrics.Record(func(file string) ([]byte, error) {
		data, err := suite.ReadResult(s.resolve(file), file, worker.DefaultMaxStdout)
		if err != nil {
			return nil, fmt.Errorf("read the recorded output %s: %w: record one, or correct the name", file, err)
		}
		return data, nil
	})
	if err != nil {
		return c.Errorf("metrics", "%v", err)
	}
	return nil
}

// records are the paths of the recorded outputs that the metrics name.
func (b *body) records(dir string) (paths []string) {
	for i := range b.Metrics {
		if r, err := b.Metrics[i].steps(); err == nil && r != nil {
			paths = append(paths, suite.Within(dir, r.Files()...)...)
		}
	}
	return paths
}

// files are the recorded outputs that the suite is judged by.
func files(c *config.Suite, dir string) ([]string, error) {
	b, err := load(c)
	if err != nil {
		return nil, err
	}
	return b.records(dir), nil
}
