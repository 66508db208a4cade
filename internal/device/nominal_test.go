package device

import (
	"strings"
	"testing"
)

// What a label stands for derives that label again.
func TestFromLabelIsTheOppositeOfDerive(t *testing.T) {
	for label := range nominal {
		for _, suffix := range []string{"", "-a100", "-linux-cpu"} {
			h, ok := FromLabel(label + suffix)
			if got := derive(h.OS, h.Arch, h.Accelerators); !ok || got != label {
				t.Errorf("%s%s: ok %v, derives %q", label, suffix, ok, got)
			}
		}
	}
}

func FuzzFromLabel(f *testing.F) {
	f.Add("linux-cuda-a100")
	f.Add("macos-mlx")
	f.Add("linux--cpu")
	f.Fuzz(func(t *testing.T, label string) {
		h, ok := FromLabel(label)
		if !ok {
			return
		}
		if derived := derive(h.OS, h.Arch, h.Accelerators); h.Label != label || !strings.HasPrefix(label+"-", derived+"-") {
			t.Errorf("%q stands for %q", label, derived)
		}
	})
}
