package host_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/host"
)

func TestDetectKeepsGivenLabel(t *testing.T) {
	got, _, err := host.Detect(t.Context(), host.Options{Label: "lab-a100.2"})
	if err != nil || got.Label != "lab-a100.2" {
		t.Errorf("label %q, error %v, want the one given", got.Label, err)
	}
	if _, _, err := host.Detect(t.Context(), host.Options{Label: "../etc"}); err == nil {
		t.Error("no error, want the label refused")
	}
}
