package evaluate_test

import (
	"os"
	"testing"

	detectors "github.com/accelgate/accelgate/internal/detect/evaluate"
	"github.com/accelgate/accelgate/internal/gate/evaluate"
	"github.com/accelgate/accelgate/internal/require"
)

func TestRoadsThorough(t *testing.T) {
	require.Thorough(t)
	dir := require.Data(t, "x", "series/") + "/series"
	var d detectors.Data
	d.Sets, _ = detectors.Load(dir)
	d.Own, _ = detectors.LoadPairs(dir)
	d.Kernels, _ = detectors.LoadRepeats(dir)
	evaluate.Roads(os.Stdout, d)
	evaluate.Generated(os.Stdout)
}
