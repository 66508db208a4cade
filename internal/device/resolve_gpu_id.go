package device

import (
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// GPU is an NVIDIA GPU under both of its names, as nvidia-smi lists it.
type GPU struct{ Index, UUID string }

var gpuUUID = lazyregexp.New(`^GPU-[0-9A-Za-z-]{4,96}$`)

// IsUUID reports whether a text is the UUID of an NVIDIA GPU.
func IsUUID(text string) bool { return gpuUUID.MatchString(text) }

// FindGPU returns the position of the GPU that an id of a [bench.Device] means: an index, a UUID or the beginning of one. It
// is -1 where the id means none, or several.
func FindGPU(gpus []GPU, id string) int {
	if i := slices.IndexFunc(gpus, func(g GPU) bool { return g.Index == id || g.UUID == id }); i >= 0 {
		return i
	}
	begins := func(g GPU) bool { return strings.HasPrefix(id, "GPU-") && strings.HasPrefix(g.UUID, id) }
	i := slices.IndexFunc(gpus, begins)
	if i >= 0 && slices.ContainsFunc(gpus[i+1:], begins) {
		return -1
	}
	return i
}

// uuidOf returns the UUID of the GPU that an id means, "" where it means none, or several.
func uuidOf(gpus []GPU, id string) string {
	if i := FindGPU(gpus, id); i >= 0 {
		return gpus[i].UUID
	}
	return ""
}
