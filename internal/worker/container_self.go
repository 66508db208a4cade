package worker

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// self is the container that this process runs in. Its mounts say what the
// engine, which uses the paths of its own host only, calls a path.
type self struct {
	id     string // empty if the engine does not list the container
	mounts []container.MountPoint
}

// locateSelf finds the container that this process is in; nil means none, or
// that the caller says it does not matter.
func (w *Container) locateSelf(ctx context.Context, e *engine) (*self, error) {
	mountinfo := readStart("/proc/self/mountinfo")
	ids := containerIDs(readStart("/proc/self/cgroup"), mountinfo)
	sure := len(ids) > 0
	if name, err := os.Hostname(); err == nil && len(name) == 12 && isHex(name) { // engines name a container by its id's beginning
		ids = append(ids, name)
	}
	points := mountPoints(mountinfo)
	for _, id := range ids {
		ctx, cancel := context.WithTimeout(ctx, callLimit)
		r, err := e.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
		cancel()
		if err != nil && !errdefs.IsNotFound(err) {
			return nil, e.unreachable(err)
		}
		if err == nil && strings.HasPrefix(r.Container.ID, id) {
			if mounts := resolved(r.Container.Mounts); isHere(mounts, points) {
				return &self{id: r.Container.ID, mounts: mounts}, nil
			}
		}
	}
	if sure && !w.SamePaths {
		return &self{}, nil
	}
	return nil, nil
}

// isHere reports whether a container's mounts are those of this process: a
// container that shares the network of another one has the other's /etc/hosts.
func isHere(mounts []container.MountPoint, points []string) bool {
	return !slices.ContainsFunc(mounts, func(m container.MountPoint) bool { return !slices.Contains(points, m.Destination) })
}

// resolved returns mounts with the places where they really are: /var/run is
// a link in most images.
func resolved(mounts []container.MountPoint) []container.MountPoint {
	mounts = slices.Clone(mounts)
	for i := range mounts {
		to := &mounts[i].Destination
		if place, err := filepath.EvalSymlinks(*to); err == nil {
			*to = place
		}
		*to = filepath.Clean(*to)
	}
	return mounts
}

// readStart reads a file of the kernel's as far as anything in it is used.
func readStart(name string) []byte {
	f, err := os.Open(name)
	if err != nil {
		return nil // as on systems without /proc
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, 4<<20))
	return data
}

// engineFiles are the files that engines mount into every container from a
// folder that is named by its id, those of the container itself first: see
// /proc/self/mountinfo in containers of Docker and podman.
var engineFiles = []string{"/run/.containerenv", "/etc/hostname", "/etc/hosts", "/etc/resolv.conf"}

// containerIDs returns the ids that the container of this process may have,
// likeliest first. Mounts at other places are not looked at: on the engine's
// own machine those of all containers are in the list.
func containerIDs(cgroup, mountinfo []byte) (ids []string) {
	add := func(text string) {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !('0' <= r && r <= '9' || 'a' <= r && r <= 'z') }) {
			if len(word) == 64 && isHex(word) && !slices.Contains(ids, word) {
				ids = append(ids, word)
			}
		}
	}
	for line := range bytes.Lines(cgroup) {
		add(string(line))
	}
	roots := map[string]string{}
	for root, point := range mounted(mountinfo) {
		roots[point] = root
	}
	for _, file := range engineFiles {
		add(roots[file])
	}
	return ids
}

func isHex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }

func mountPoints(mountinfo []byte) (points []string) {
	for _, point := range mounted(mountinfo) {
		points = append(points, point)
	}
	return points
}

// mounted yields what is mounted where: the fourth and fifth field of each
// line, see proc_pid_mountinfo(5).
func mounted(mountinfo []byte) func(yield func(root, point string) bool) {
	return func(yield func(root, point string) bool) {
		for line := range bytes.Lines(mountinfo) {
			if fields := strings.Fields(string(line)); len(fields) > 4 && !yield(unescape.Replace(fields[3]), unescape.Replace(fields[4])) {
				return
			}
		}
	}
}

var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// locate returns what the engine calls a path of this process, and whether
// this process itself may only read it.
func (e *engine) locate(path string) (host string, readOnly bool, err error) {
	if e.self == nil {
		return path, false, nil
	}
	if e.self.id == "" {
		return "", false, fmt.Errorf(
			"accelgate runs in a container that the engine at %s does not list, so the host path of %s is unknown: "+
				"mount the socket of the engine that runs accelgate, or set same_paths if both see the same files at the same paths",
			e.host, path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false, err
	}
	return e.self.locate(real)
}

func (s *self) locate(path string) (host string, readOnly bool, err error) {
	var best *container.MountPoint
	for i, m := range s.mounts {
		if within(path, m.Destination) && (best == nil || len(m.Destination) > len(best.Destination)) {
			best = &s.mounts[i]
		}
	}
	if best == nil || best.Source == "" {
		return "", false, fmt.Errorf(
			"%s is inside of the container that accelgate runs in (%.12s), where a container next to it cannot see it: "+
				"mount the folder into accelgate's container (-v HOST:%s), or use one that is mounted", path, s.id, path)
	}
	rel, err := filepath.Rel(best.Destination, path)
	return filepath.Join(best.Source, rel), !best.RW, err
}

// socketPaths returns where sockets of engines are.
func (e *engine) socketPaths() []string {
	paths := append([]string{"/run/docker.sock"}, usualSockets...)
	if path, ok := strings.CutPrefix(e.host, "unix://"); ok {
		paths = append(paths, path)
		if host, _, err := e.locate(path); err == nil {
			paths = append(paths, host)
		}
	}
	for _, path := range paths {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			paths = append(paths, real)
		}
	}
	return paths
}

// exposed reports whether a socket is at or below a path of the engine's.
func (e *engine) exposed(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path // on another machine, or outside of this container
	}
	return slices.ContainsFunc(e.sockets, func(socket string) bool { return within(socket, path) || within(socket, real) })
}
