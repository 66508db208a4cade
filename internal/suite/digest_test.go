package suite

import (
	"slices"
	"testing"
)

// TestInheritedOfJobs: two jobs of a batch system have the same environment, wherever they run. Outside of one, visible
// devices count.
func TestInheritedOfJobs(t *testing.T) {
	first := []string{"LD_LIBRARY_PATH=/opt/lib", "SLURM_JOB_ID=7", "SLURMD_NODENAME=n1", "HOSTNAME=n1", "CUDA_VISIBLE_DEVICES=0", "ROCR_VISIBLE_DEVICES=0", "GPU_DEVICE_ORDINAL=0"}
	second := []string{"LD_LIBRARY_PATH=/opt/lib", "SLURM_JOB_ID=8", "SLURM_RESTART_COUNT=1", "SLURMD_NODENAME=n2", "HOSTNAME=n2", "CUDA_VISIBLE_DEVICES=1", "ENVIRONMENT=BATCH"}
	if a, b := Inherited(first), Inherited(second); !slices.Equal(a, b) || !slices.Contains(a, "LD_LIBRARY_PATH=/opt/lib") {
		t.Errorf("the environments of two jobs differ:\n%q\n%q", a, b)
	}
	pod := func(name, device string) []string {
		return []string{"JOB_COMPLETION_INDEX=3", "HOSTNAME=" + name, "KUBERNETES_SERVICE_HOST=10.0.0.1", "WEB_PORT_80_TCP=tcp://" + name, "NVIDIA_VISIBLE_DEVICES=" + device}
	}
	if a, b := Inherited(pod("a", "GPU-1")), Inherited(pod("b", "GPU-2")); !slices.Equal(a, b) {
		t.Errorf("the environments of two pods differ:\n%q\n%q", a, b)
	}
	if a, b := Inherited([]string{"CUDA_VISIBLE_DEVICES=0"}), Inherited([]string{"CUDA_VISIBLE_DEVICES=1"}); slices.Equal(a, b) {
		t.Error("visible devices do not count outside of a job")
	}
}
