package worker

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// Validate reports faults of the fields that can be found
// without an engine.
func (w *Container) Validate() error {
	var errs []error
	check := func(err error) { errs = append(errs, err) }
	if runtime.GOOS == "windows" {
		check(errors.New("containers get folders at the path that they have here, which Windows cannot do: use Linux or macOS"))
	}
	if w.Image == "" {
		check(errors.New("no image was named: set image"))
	}
	_, err := parseGPUs(w.GPUs)
	check(err)
	_, _, err = parseDevices(w.Devices)
	check(err)
	for _, m := range w.Mounts {
		_, err := parseMount(m)
		check(err)
	}
	if w.Memory < 0 || w.ShmSize < 0 {
		check(errors.New("memory limits cannot be negative: use 0 for none"))
	}
	return errors.Join(errs...)
}

// What no measurement needs of the capabilities that engines give by default.
// The others stay, because images that start as root to become another user,
// or write into a folder of another user, need them.
var droppedCapabilities = []string{"AUDIT_WRITE", "MKNOD", "NET_RAW", "SETFCAP"}

// SELinux would keep the container out of Root; the alternative is to change
// the labels of the user's files. Elsewhere the option does nothing.
var securityOptions = []string{"no-new-privileges", "label=disable"}

// spec returns what to create for a request.
func (w *Container) spec(e *engine, req Request) (client.ContainerCreateOptions, error) {
	dir, root, err := w.folders(req.Dir)
	if err != nil {
		return client.ContainerCreateOptions{}, err
	}
	mounts, err := w.mounts(e, root)
	if err != nil {
		return client.ContainerCreateOptions{}, err
	}
	env := w.environ(req)
	bound, err := bindingOf(env, "/")
	if err != nil {
		return client.ContainerCreateOptions{}, err
	}
	gpus, _ := parseGPUs(w.GPUs)
	devices, cdi, _ := parseDevices(w.Devices)
	host := &container.HostConfig{
		NetworkMode: container.NetworkMode(cmp.Or(w.Network, "none")),
		// The output is read as it comes; a log would fill the engine's disk.
		LogConfig:   container.LogConfig{Type: "none"},
		SecurityOpt: securityOptions,
		CapDrop:     droppedCapabilities,
		Mounts:      mounts,
		ShmSize:     w.ShmSize,
		Resources: container.Resources{
			Memory:         w.Memory,
			MemorySwap:     w.Memory,
			CpusetCpus:     numberList(bound.cpus),
			CpusetMems:     numberList(bound.nodes),
			Devices:        devices,
			DeviceRequests: deviceRequests(e.podman, gpus, cdi),
		},
	}
	config := &container.Config{
		Image:        w.Image,
		Entrypoint:   req.Args, // engines ignore the image's command where there is an entrypoint
		Env:          env,
		User:         w.User,
		WorkingDir:   dir,
		AttachStdout: true,
		AttachStderr: true,
		Labels:       e.labels(),
	}
	if !e.podman { // which would take the word for a command
		config.Healthcheck = &container.HealthConfig{Test: []string{"NONE"}} // the image's would run within a measurement
	}
	return client.ContainerCreateOptions{HostConfig: host, Config: config}, nil
}

// numberList writes numbers as engines take them, "" for none.
func numberList(numbers []int) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}

func (w *Container) environ(req Request) []string {
	var env []string
	for _, name := range w.Inherit {
		if value := Getenv(w.Environ, name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	env = without(append(env, w.Env...), req.Unset)
	return Scrub(append(env, req.Env...))
}

// folders returns the working directory and the folder that is mounted.
func (w *Container) folders(dir string) (abs, root string, err error) {
	if abs, err = filepath.Abs(dir); err != nil {
		return "", "", fmt.Errorf("working directory: %w", err)
	}
	if root, err = filepath.Abs(cmp.Or(w.Root, dir)); err != nil {
		return "", "", fmt.Errorf("folder of the container: %w", err)
	}
	if info, err := os.Stat(abs); err != nil {
		return "", "", fmt.Errorf("working directory: %w", err)
	} else if !info.IsDir() {
		return "", "", fmt.Errorf("working directory %s is not a folder: name the folder that it is in", abs)
	}
	if !within(abs, root) {
		return "", "", fmt.Errorf("working directory %s is outside of %s, which is all that the container sees: choose a folder in it", abs,
			root)
	}
	return abs, root, nil
}

func (w *Container) mounts(e *engine, root string) ([]mount.Mount, error) {
	all := []mount.Mount{{Type: mount.TypeBind, Source: root, Target: root}}
	for _, m := range w.Mounts {
		parsed, err := parseMount(m)
		if err != nil {
			return nil, err
		}
		all = append(all, parsed)
	}
	for i := range all {
		m := &all[i]
		if _, err := os.Stat(m.Source); err != nil { // podman would make a folder of root's there
			return nil, fmt.Errorf("mount: %w: create it, or correct the path", err)
		}
		source, readOnly, err := e.locate(m.Source)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(plainPath(source), plainPath(m.Target)); err != nil {
			return nil, err
		}
		if e.exposed(source) {
			return nil, fmt.Errorf("%s holds the container engine's socket, through which a container could take over this host: "+
				"choose a folder without it", m.Source)
		}
		m.Source, m.ReadOnly = source, m.ReadOnly || readOnly
	}
	return all, nil
}

// parseMount reads HOST:CONTAINER[:ro].
func parseMount(text string) (mount.Mount, error) {
	parts := strings.Split(text, ":")
	if len(parts) == 3 && (parts[2] == "ro" || parts[2] == "rw") || len(parts) == 2 {
		if err := errors.Join(plainPath(parts[0]), plainPath(parts[1])); err != nil {
			return mount.Mount{}, fmt.Errorf("mount %q: %w", text, err)
		}
		return mount.Mount{Type: mount.TypeBind, Source: parts[0], Target: parts[1], ReadOnly: slices.Contains(parts[2:], "ro")}, nil
	}
	return mount.Mount{}, fmt.Errorf("mount %q is malformed: write HOST:CONTAINER or HOST:CONTAINER:ro", text)
}

// plainPath refuses what podman would take for the end of a path: it makes a
// line of comma-separated values of a mount.
func plainPath(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("path %q is not absolute: write it from the root", path)
	}
	if strings.ContainsFunc(path, func(r rune) bool { return r == ',' || r == '"' || r < ' ' || r == 0x7f }) {
		return fmt.Errorf("path %q has a comma, a quote or a control character, which engines cannot mount: rename it", path)
	}
	return nil
}

var (
	gpuList       = lazyregexp.New(`^device=([A-Za-z0-9:/-]+(?:,[A-Za-z0-9:/-]+)*)$`)
	cdiName       = lazyregexp.New(`^[A-Za-z][\w.-]*/[A-Za-z][\w-]*=[A-Za-z0-9][\w.:-]*$`)
	devicePerm    = lazyregexp.New(`^r?w?m?$`)
	maxGPUs       = 1024
	nvidia        = "nvidia.com/gpu="
	gpuCapability = [][]string{{"gpu"}}
)

// gpus is what a GPUs field asks for; count is -1 for all.
type gpus struct {
	count int
	ids   []string
}

func parseGPUs(text string) (gpus, error) {
	switch {
	case text == "":
		return gpus{}, nil
	case text == "all":
		return gpus{count: -1}, nil
	}
	if list := gpuList.FindStringSubmatch(text); list != nil {
		return gpus{ids: strings.Split(list[1], ",")}, nil
	}
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n <= maxGPUs {
		return gpus{count: n}, nil
	}
	return gpus{}, fmt.Errorf(`gpus %q is malformed: write "all", a number, or "device=0,1"`, text)
}

// parseDevices distinguishes device files from names of the Container Device Interface.
func parseDevices(texts []string) (files []container.DeviceMapping, cdi []string, err error) {
	for _, text := range texts {
		if cdiName.MatchString(text) {
			cdi = append(cdi, text)
			continue
		}
		file, err := parseDevice(text)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, file)
	}
	return files, cdi, nil
}

func parseDevice(text string) (container.DeviceMapping, error) {
	parts := strings.Split(text, ":")
	d := container.DeviceMapping{PathOnHost: parts[0], PathInContainer: parts[0], CgroupPermissions: "rwm"}
	if len(parts) > 1 {
		d.PathInContainer = parts[1]
	}
	if len(parts) > 2 {
		d.CgroupPermissions = parts[2]
	}
	if len(parts) > 3 || d.CgroupPermissions == "" || !devicePerm.MatchString(d.CgroupPermissions) {
		return d, fmt.Errorf("device %q is malformed: write HOST, HOST:CONTAINER or HOST:CONTAINER:rwm", text)
	}
	if err := errors.Join(plainPath(d.PathOnHost), plainPath(d.PathInContainer)); err != nil {
		return d, fmt.Errorf("device %q: %w", text, err)
	}
	return d, nil
}

// deviceRequests asks podman for GPUs by their names in the Container Device
// Interface, as it has no other way.
func deviceRequests(podman bool, g gpus, cdi []string) (requests []container.DeviceRequest) {
	if podman {
		cdi = append(g.names(), cdi...)
	} else if g.count != 0 || g.ids != nil {
		requests = append(requests, container.DeviceRequest{Count: g.count, DeviceIDs: g.ids, Capabilities: gpuCapability})
	}
	if len(cdi) > 0 {
		requests = append(requests, container.DeviceRequest{Driver: "cdi", DeviceIDs: cdi})
	}
	return requests
}

func (g gpus) names() (names []string) {
	if g.count < 0 {
		return []string{nvidia + "all"}
	}
	for _, id := range g.ids {
		names = append(names, nvidia+id)
	}
	for i := range g.count {
		names = append(names, nvidia+strconv.Itoa(i))
	}
	return names
}

// within reports whether path is dir or below it; both are absolute.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
