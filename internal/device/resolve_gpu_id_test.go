package device

import "testing"

// TestFindGPU: an index, a UUID and the beginning of one UUID mean a GPU, the beginning of several means none.
func TestFindGPU(t *testing.T) {
	gpus := []GPU{{"0", "GPU-aaaa1111"}, {"1", "GPU-aaaa2222"}, {"3", "GPU-bbbb0000"}, {"4", "GPU-aaaa"}}
	for id, want := range map[string]int{
		"0": 0, "3": 2, "GPU-b": 2, "GPU-aaaa1": 0, "GPU-aaaa2222": 1, // an exact one counts whatever begins with it:
		"GPU-aaaa": 3, "GPU-aaa": -1, "GPU-": -1, "2": -1, "": -1, "aaaa1": -1, "MIG-aaaa1111": -1, "GPU-aaaa11112": -1,
	} {
		if got := FindGPU(gpus, id); got != want {
			t.Errorf("%q is the GPU at %d, want %d", id, got, want)
		}
	}
}
