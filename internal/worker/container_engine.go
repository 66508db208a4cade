package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

const (
	// callLimit bounds a call that an engine answers from memory.
	callLimit = 30 * time.Second
	// workLimit bounds one that mounts, starts or removes: engines may copy an
	// image's files for another user, and drivers may take their time.
	workLimit = 5 * time.Minute
)

// engine is a container engine that answers.
type engine struct {
	*client.Client
	host    string // its address
	podman  bool
	version string // of podman
	owner   owner
	self    *self    // the container that this process is in, or nil
	sockets []string // what no container may see, as the engine calls it
}

// dial finds the engine and learns what it is.
func (w *Container) dial(ctx context.Context) (*engine, error) {
	host, err := w.host(ctx)
	if err != nil {
		return nil, err
	}
	e := &engine{host: host, owner: thisProcess()}
	options := []client.Opt{client.WithHost(host), client.WithUserAgent("accelgate"), client.WithHTTPResponseHook(e.recognize)}
	if certs := Getenv(w.Environ, client.EnvOverrideCertPath); certs != "" && strings.HasPrefix(host, "tcp://") {
		options = append(options, client.WithTLSClientConfig(
			filepath.Join(certs, "ca.pem"), filepath.Join(certs, "cert.pem"), filepath.Join(certs, "key.pem")))
	}
	if e.Client, err = client.New(options...); err != nil {
		return nil, fmt.Errorf("container engine at %s: %w: set DOCKER_HOST to unix://PATH or tcp://HOST:PORT", host, err)
	}
	if err = e.greet(ctx); err == nil {
		e.self, err = w.locateSelf(ctx, e)
	}
	if err != nil {
		_ = e.Close()
		return nil, err
	}
	e.sockets = e.socketPaths()
	return e, nil
}

func (e *engine) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	if _, err := e.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true}); err != nil {
		return e.unreachable(err)
	}
	return nil
}

// recognize finds out whether the engine is podman. Asking it for its version
// would do, too, but takes podman half a second.
func (e *engine) recognize(resp *http.Response) {
	if strings.HasSuffix(resp.Request.URL.Path, "/_ping") { // before anything runs at the same time
		e.version = resp.Header.Get("Libpod-Api-Version")
		e.podman = e.version != ""
	}
}

// command is what people type to talk to the engine.
func (e *engine) command() string {
	if e.podman {
		return "podman"
	}
	return "docker"
}

// ignoresDeviceRequests is true of podman before 5.4, see
// https://github.com/containers/podman/pull/25171.
func (e *engine) ignoresDeviceRequests() bool {
	var major, minor int
	_, _ = fmt.Sscanf(e.version, "%d.%d", &major, &minor)
	return e.podman && (major < 5 || major == 5 && minor < 4)
}

// host returns the address of the engine.
func (w *Container) host(ctx context.Context) (string, error) {
	host := cmp.Or(w.Socket, Getenv(w.Environ, client.EnvOverrideHost))
	if filepath.IsAbs(host) {
		host = "unix://" + host
	}
	switch scheme, _, _ := strings.Cut(host, "://"); scheme {
	case "unix", "tcp", "npipe":
		return host, nil
	case "":
		return w.usualHost(ctx)
	}
	return "", fmt.Errorf("container engine at %q: only unix:// and tcp:// are supported: set DOCKER_HOST to such an address", host)
}

// usualHost returns the first of the usual sockets that something listens on.
func (w *Container) usualHost(ctx context.Context) (string, error) {
	if runtime.GOOS == "windows" {
		return client.DefaultDockerHost, nil
	}
	paths := usualSockets
	if dir := Getenv(w.Environ, "XDG_RUNTIME_DIR"); dir != "" {
		paths = append(paths[:len(paths):len(paths)], filepath.Join(dir, "docker.sock"), filepath.Join(dir, "podman", "podman.sock"))
	}
	if home := Getenv(w.Environ, "HOME"); home != "" {
		paths = append(paths[:len(paths):len(paths)], filepath.Join(home, ".docker", "run", "docker.sock"))
	}
	var errs []error
	for _, path := range paths {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
		if err == nil {
			return "unix://" + path, conn.Close()
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("no container engine answers: start docker, or podman by 'systemctl start podman.socket', "+
		"or set DOCKER_HOST; in a container, mount the engine's socket: %w", errors.Join(errs...))
}

var usualSockets = []string{"/var/run/docker.sock", "/run/podman/podman.sock"}

// unreachable explains an error that is not an answer of the engine. Nothing
// more can be run then.
func (e *engine) unreachable(err error) error {
	return &unreachable{fmt.Errorf("container engine at %s: %w: see whether it runs and answers ('%s version'), start it again, and repeat",
		e.host, err, e.command())}
}

type unreachable struct{ error }

func (u *unreachable) Unwrap() error { return u.error }

// call explains an error of a call: either the engine's answer, or that there
// was none.
func (e *engine) call(err error) error {
	if err == nil || answered(err) {
		return err
	}
	return e.unreachable(err)
}

// answered reports whether err came from the engine, as a status of HTTP.
func answered(err error) bool {
	return slices.ContainsFunc([]func(error) bool{
		errdefs.IsInvalidArgument, errdefs.IsNotFound, errdefs.IsConflict, errdefs.IsInternal, errdefs.IsUnauthorized,
		errdefs.IsPermissionDenied, errdefs.IsNotImplemented, errdefs.IsUnavailable, errdefs.IsNotModified,
	}, func(is func(error) bool) bool { return is(err) })
}
