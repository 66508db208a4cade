package workflows_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// host is what worlds that run at the same time share. It is made once.
type host struct {
	engine     engine
	address    string // at which act talks to the engine
	fakegithub string
	accelgate  string // the binary of a release, in downloads/VERSION/
	downloads  string // stands in for the address of releases
}

const (
	release = "v0.0.0-e2e"
	image   = "act-accelgate-accelgate-main-dockeraction:latest" // what act calls the image of "uses: accelgate/accelgate@main"
)

var (
	theHost = sync.OnceValues(newHost)
	undo    []func() error // in TestMain, after all tests
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := 1
	// The longest test takes as long as all others, and waits most of its time for containers: it starts with the first.
	if err := flag.Set("test.parallel", "4"); err == nil {
		code = m.Run()
	}
	for _, f := range slices.Backward(undo) {
		if err := f(); err != nil {
			fmt.Fprintln(os.Stderr, "clean up:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// missing is why tests cannot run here.
type missing string

func (m missing) Error() string { return string(m) }

func newHost() (*host, error) {
	dir, err := os.MkdirTemp("", "e2e") // the address of a socket has 108 characters at most
	if err != nil {
		return nil, err
	}
	undo = append(undo, func() error { return os.RemoveAll(dir) })
	h := &host{fakegithub: filepath.Join(dir, "fakegithub"), downloads: filepath.Join(dir, "downloads")}
	if h.engine, err = findEngine(); err != nil {
		return nil, err
	}
	h.accelgate = filepath.Join(h.downloads, release, "accelgate_"+runtime.GOOS+"_"+runtime.GOARCH)
	if err := errors.Join(goBuild(h.fakegithub, "./cmd/fakegithub"), goBuild(h.accelgate, "./cmd/accelgate")); err != nil {
		return nil, err
	}
	if h.address, err = h.engine.listen(dir); err != nil {
		return nil, err
	}
	return h, h.engine.build(filepath.Join(dir, "image"), h.accelgate)
}

func goBuild(to, pkg string) error {
	out, err := try(context.Background(), filepath.Join("..", ".."), "env", "CGO_ENABLED=0", "GOFLAGS=", "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -X github.com/accelgate/accelgate/internal/version.released="+release, "-o", to, pkg)
	if err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// pins are the lines of native/release.txt.
func (h *host) pins() (string, error) {
	binary, err := os.ReadFile(h.accelgate)
	return fmt.Sprintf("# version: %s\n%x  %s\n", release, sha256.Sum256(binary), filepath.Base(h.accelgate)), err
}

// engine is the command of a container engine that works.
type engine string

var buildStage = regexp.MustCompile(`(?m)^FROM (\S+) AS build$`)

// findEngine finds an engine by running the image that the Dockerfile builds in.
func findEngine() (engine, error) {
	if runtime.GOOS != "linux" {
		return "", missing("container engine: container actions run on Linux only")
	}
	data, err := os.ReadFile(filepath.Join("..", "..", "Dockerfile"))
	if err != nil {
		return "", err
	}
	base := buildStage.FindStringSubmatch(string(data))[1]
	reason := "container engine that runs " + base + ": install podman or start docker; where no registry can be reached, .ci/containers " +
		"prepares both on Debian and prints the value of CONTAINERS_CONF"
	for _, e := range []engine{"podman", "docker"} {
		if out, err := try(context.Background(), "", string(e), "run", "--rm", "--network=host", base, "go", "version"); err != nil {
			reason += fmt.Sprintf("\n    %s: %v %s", e, err, strings.TrimSpace(out))
			continue
		}
		return e, nil
	}
	return "", missing(reason)
}

// listen returns the address at which act can talk to the engine.
func (e engine) listen(dir string) (string, error) {
	if e == "docker" {
		out, err := try(context.Background(), "", "docker", "context", "inspect", "--format", "{{.Endpoints.docker.Host}}")
		return strings.TrimSpace(out), err
	}
	socket := filepath.Join(dir, "podman.sock")
	service := exec.Command("podman", "system", "service", "--time=0", "unix://"+socket)
	if err := service.Start(); err != nil {
		return "", err
	}
	undo = append(undo, func() error {
		_ = service.Process.Signal(os.Interrupt)
		_ = service.Wait()
		return nil
	})
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("unix", socket); err == nil {
			c.Close()
			return inFront(socket, filepath.Join(dir, "engine.sock"))
		}
	}
	return "", errors.New("podman system service does not listen")
}

// build makes the image of "uses: ./" under the name that act looks for: the last stage of the Dockerfile, with a binary that is built
// here. e2e/image builds the whole Dockerfile.
func (e engine) build(dir, accelgate string) error {
	text, err := os.ReadFile(filepath.Join("..", "..", "Dockerfile"))
	if err != nil {
		return err
	}
	_, last, found := strings.Cut(string(text), "FROM scratch\nCOPY --from=build /image /\n")
	if !found {
		return errors.New("the Dockerfile's last stage does not copy /image to an empty image: correct e2e")
	}
	binary, err := os.ReadFile(accelgate)
	files := filepath.Join(dir, "image")
	if err := errors.Join(err, os.MkdirAll(filepath.Join(files, "tmp"), 0o755), os.WriteFile(filepath.Join(files, "accelgate"), binary, 0o755),
		os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte("FROM scratch\nCOPY image /\n"+last), 0o644)); err != nil {
		return err
	}
	name := "docker.io/library/" + image
	undo = append(undo, func() error {
		if out, err := try(context.Background(), "", string(e), "rmi", "--force", name); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	})
	if out, err := try(context.Background(), "", string(e), "build", "--quiet", "--tag", name, dir); err != nil {
		return fmt.Errorf("build the image: %w\n%s", err, out)
	}
	return nil
}
