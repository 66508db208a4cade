package device

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
)

func TestAllotment(t *testing.T) {
	of := func(vendor string, n int) (h bench.Host) {
		for range n {
			h.Accelerators = append(h.Accelerators, bench.Accelerator{Vendor: vendor})
		}
		return h
	}
	for _, c := range []struct {
		name, environ string
		host          bench.Host
		ids, visible  string // what children see, of all variables
	}{
		{"two of four", "CUDA_VISIBLE_DEVICES=2,3", of(NVIDIA, 4), "nvidia:0 nvidia:1", "CUDA_VISIBLE_DEVICES=2,3"},
		{"none", "", of(NVIDIA, 4), "", "CUDA_VISIBLE_DEVICES=-1"},
		{"an empty list", "CUDA_VISIBLE_DEVICES=", of(NVIDIA, 4), "", "CUDA_VISIBLE_DEVICES="},
		{"Slurm's numbers", "SLURM_JOB_GPUS=1,3", of(NVIDIA, 4), "nvidia:0 nvidia:1", "CUDA_VISIBLE_DEVICES=1,3"},
		{"those of a step", "SLURM_JOB_GPUS=0-3 SLURM_STEP_GPUS=2", of(NVIDIA, 4), "nvidia:0", "CUDA_VISIBLE_DEVICES=2"},
		{"numbers of the host, of which the job sees its own", "SLURM_JOB_GPUS=6,7", of(NVIDIA, 2), "nvidia:0 nvidia:1", "CUDA_VISIBLE_DEVICES=0,1"},
		{"AMD", "ROCR_VISIBLE_DEVICES=1 CUDA_VISIBLE_DEVICES=1 GPU_DEVICE_ORDINAL=1", of(AMD, 8), "amd:0", "HIP_VISIBLE_DEVICES=1"},
		{"no tool of the vendor", "CUDA_VISIBLE_DEVICES=0,1 ROCR_VISIBLE_DEVICES=0,1", bench.Host{}, "nvidia:0 nvidia:1", "CUDA_VISIBLE_DEVICES=0,1"},
	} {
		ids, children := Allotment(c.host, strings.Fields(c.environ))
		if diff := cmp.Diff(strings.Fields(c.ids), ids, cmp.Transformer("empty", func(s []string) string { return strings.Join(s, " ") })); diff != "" {
			t.Errorf("%s: devices\n%s", c.name, diff)
		}
		if !slices.Contains(children, c.visible) {
			t.Errorf("%s: children get %q, want %s", c.name, children, c.visible)
		}
	}
}
