package worker

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/moby/moby/client"
)

// Engine describes a container engine that answers.
type Engine struct {
	Command  string // what people type: docker or podman
	Version  string
	Address  string   // unix://PATH or tcp://HOST:PORT
	Runtimes []string // of containers, such as runc and nvidia
	CDI      []string // names of the Container Device Interface that docker found
	NoGPUs   bool     // this podman ignores requests for devices: 5.4 is the first that does not
}

// About looks for the engine that Do would use. The error says how to get one.
func (w *Container) About(ctx context.Context) (Engine, error) {
	e, err := w.dial(ctx)
	if err != nil {
		return Engine{}, err
	}
	defer e.Close()
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	found, err := e.Info(ctx, client.InfoOptions{})
	if err != nil {
		return Engine{}, fmt.Errorf("container engine at %s: %w: type %s info to see why", e.host, err, e.command())
	}
	about := Engine{Command: e.command(), Version: found.Info.ServerVersion, Address: e.host,
		Runtimes: slices.Sorted(maps.Keys(found.Info.Runtimes)), NoGPUs: e.ignoresDeviceRequests()}
	for _, d := range found.Info.DiscoveredDevices {
		about.CDI = append(about.CDI, d.ID)
	}
	return about, nil
}
