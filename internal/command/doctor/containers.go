package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// containers looks for an engine, and whether it hands NVIDIA's devices to containers.
// Those of other vendors are files that any engine can mount.
func (l *look) containers(ctx context.Context) {
	e, err := (&worker.Container{Environ: l.Environ}).About(ctx)
	if err != nil {
		l.add("containers", Unknown, "no container engine answers, and suites with worker: container need one",
			"start docker, or type systemctl start podman.socket")
		return
	}
	l.ok("containers", "%s %s at %s", e.Command, text.Quote(e.Version, 40), text.Quote(e.Address, 200))
	switch {
	case !l.has(device.NVIDIA):
	case e.NoGPUs:
		l.add("gpu runtime", Warning, "this podman ignores requests for GPUs", "update podman to 5.4 or later")
	case e.Command == "podman":
		l.podmanGPUs(ctx)
	case slices.Contains(e.Runtimes, "nvidia") || slices.ContainsFunc(e.CDI, ofNVIDIA):
		l.ok("gpu runtime", "docker hands NVIDIA's devices to containers")
	default:
		l.add("gpu runtime", Warning, "docker has no runtime for NVIDIA's devices: gpus: all fails",
			"install nvidia-container-toolkit, and type sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker")
	}
}

func ofNVIDIA(name string) bool { return strings.HasPrefix(name, "nvidia.com/gpu=") }

// podmanGPUs asks NVIDIA's tool which names podman would find.
func (l *look) podmanGPUs(ctx context.Context) {
	out, ok := l.output(ctx, "nvidia-ctk", "cdi", "list")
	if ok && slices.ContainsFunc(strings.Fields(out), ofNVIDIA) {
		l.ok("gpu runtime", "podman hands NVIDIA's devices to containers")
		return
	}
	l.add("gpu runtime", Warning, fmt.Sprintf("podman finds no description of NVIDIA's devices: gpus: all fails on %s", l.host.Label),
		"install nvidia-container-toolkit, and type sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml")
}
