package kernels

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
)

// IsDataset reports whether a folder is a dataset of FlashInfer-Bench.
func IsDataset(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "definitions"))
	return err == nil && info.IsDir()
}

// ReadTraces reads the traces of a dataset as the run of a host, with warnings. Hardware
// chooses among those of several devices; "" demands that there is one.
func ReadTraces(dir, hardware, label, tool string) (*bench.Run, []string, error) {
	ds, err := flashinfer.Load(dir)
	if ds == nil {
		return nil, nil, err
	}
	var warnings []string
	if err != nil {
		warnings = strings.Split(err.Error(), "\n")
	}
	for _, w := range ds.Warnings {
		warnings = append(warnings, w.Error())
	}
	run, err := flashinfer.ToRun(ds.Traces, hardware, label, tool)
	if err != nil {
		return nil, warnings, fmt.Errorf("%s: %w (--hardware names a device)", dir, err)
	}
	return run, warnings, nil
}
