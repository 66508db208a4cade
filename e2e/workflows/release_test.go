package workflows_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/testing/githubtest"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestReleaseNightly runs release.yml up to the job that publishes: binaries that are built twice and compared, images
// in a registry, and the commits that the tags name. Then it uses what a user gets. All packages are compiled twice,
// which takes minutes.
func TestReleaseNightly(t *testing.T) {
	testtier.Nightly(t)
	registry := serveRegistry(t)
	w := newSourceWorld(t)
	if out, err := try(t.Context(), "", "podman", "image", "inspect", "debian:bookworm-slim"); err != nil {
		testtier.Missing(t, "the release was NOT tested: podman has no debian:bookworm-slim; .ci/containers makes it: "+out)
	}
	put(t, filepath.Join(w.source, "CHANGELOG.md"), "# Changelog\n\n## v1.2.3\n\n- the first\n")
	gitIn(t, w.source, "init", "-q", "-b", "main")
	gitIn(t, w.source, "remote", "add", "origin", "https://github.com/accelgate/accelgate.git")
	gitIn(t, w.source, "add", "--all", "--force")
	gitIn(t, w.source, "commit", "-q", "-m", "source")

	t.Cleanup(func() { // what the registry holds goes with its folder
		ids, _ := try(context.Background(), "", "podman", "images", "--all", "--quiet", "--filter", "label=org.opencontainers.image.version=v1.2.3")
		if out, err := try(context.Background(), "", "podman", append([]string{"rmi", "--force"}, strings.Fields(ids)...)...); err != nil {
			t.Errorf("remove the images: %v\n%s", err, out)
		}
	})
	github := w.serve(t, githubtest.Repo{Files: map[string]string{"README.md": "hello\n"}}, map[string]string{"contents": "read"})
	o := w.act(t, started{workflow: "release.yml", event: "workflow_dispatch", run: 91, fake: github, repo: w.source,
		payload: object{"ref": "refs/heads/main", "repository": object{"full_name": "accelgate/accelgate", "default_branch": "main"}, "inputs": object{"version": "v1.2.3"}},
		args: []string{"-j", "images", "--var", "RELEASE_REGISTRY=" + registry, "--var", "RELEASE_TARGETS=linux/amd64", "--var", "RELEASE_PLATFORMS=linux/amd64",
			"--env", "CONTAINERS_REGISTRIES_CONF=" + os.Getenv("CONTAINERS_REGISTRIES_CONF"), "--env", "GOTMPDIR="}})
	o.want(map[string]string{"build": "success", "images": "success"})

	left := filepath.Join(w.artifacts, "91", "release")
	if notes := read(t, filepath.Join(left, "notes.md")); notes != "- the first\n" {
		t.Errorf("the notes are %q", notes)
	}
	tag := filepath.Join(t.TempDir(), "tag")
	command(t, w.source, "git", "fetch", "-q", filepath.Join(w.artifacts, "91", "release-commits", "commits.bundle"), "refs/tags/v1.2.3:refs/tags/v1.2.3")
	command(t, w.source, "git", "worktree", "add", "-q", "--detach", tag, "v1.2.3")
	t.Run("the tag names commits, digests and checksums", func(t *testing.T) { pinnedRelease(t, w.source, tag, registry) })
	t.Run("native downloads the binary", func(t *testing.T) { releasedBinary(t, left, tag) })
	t.Run("the images", func(t *testing.T) { releasedImages(t, registry, tag) })
}

var ownUses = regexp.MustCompile(`uses: accelgate/accelgate(?:/native|/site)?@(\S+)`)

// pinnedRelease looks at the checkout of the tag. act builds one target of six, so the pins of the binaries are checked
// by scripts/release.
func pinnedRelease(t *testing.T, source, tag, registry string) {
	actions := gitIn(t, source, "rev-parse", "v1.2.3^")
	for _, name := range []string{"gate.yml", "forks.yml", "chat.yml", "pages.yml"} {
		for _, m := range ownUses.FindAllStringSubmatch(read(t, filepath.Join(tag, ".github", "workflows", name)), -1) {
			if m[1] != actions {
				t.Errorf("%s names the actions at %s, want the commit %s", name, m[1], actions)
			}
		}
	}
	if text := read(t, filepath.Join(tag, "action.yml")); !strings.Contains(text, "image: docker://"+registry+"/accelgate/accelgate@sha256:") {
		t.Error("action.yml does not name the image that was pushed")
	}
}

// releasedBinary runs the native action's script against a server that has the release's files.
func releasedBinary(t *testing.T, left, tag string) {
	_, address := githubtest.New(t, githubtest.State{Repos: []githubtest.Repo{{Name: "accelgate/accelgate", Releases: map[string]map[string][]byte{
		"v1.2.3": {"accelgate_linux_amd64": []byte(read(t, filepath.Join(left, "dist", "accelgate_linux_amd64")))}}}}})
	temp := t.TempDir()
	cmd := exec.Command("bash", filepath.Join(tag, "native", "get.sh"))
	cmd.Env = []string{"PATH=/usr/bin:/bin", "RUNNER_TEMP=" + temp, "RUNNER_OS=Linux", "RUNNER_ARCH=X64", "GITHUB_SERVER_URL=" + address} // no Go
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := command(t, temp, "./accelgate.exe", "version"); !strings.HasPrefix(got, "accelgate version v1.2.3 (") {
		t.Errorf("the binary prints %q", got)
	}
}

var imageOf = regexp.MustCompile(`image: docker://(\S+)`)

// releasedImages pulls both images and runs what a user expects in them.
func releasedImages(t *testing.T, registry, tag string) {
	scratch := imageOf.FindStringSubmatch(read(t, filepath.Join(tag, "action.yml")))[1]
	tools := registry + "/accelgate/accelgate:v1.2.3-tools"
	for _, image := range []string{scratch, tools} {
		command(t, "", "podman", "pull", "-q", image)
		if got := command(t, "", "podman", "run", "--rm", image, "version"); !strings.HasPrefix(got, "accelgate version v1.2.3 (") {
			t.Errorf("%s prints %q", image, got)
		}
		t.Logf("%s has %s bytes", image, command(t, "", "podman", "image", "inspect", "--format", "{{.Size}}", image))
	}
	for _, program := range []string{"git", "python3", "cc", "make", "cmake", "ninja"} {
		command(t, "", "podman", "run", "--rm", "--entrypoint", program, tools, "--version")
	}
}

// serveRegistry starts Debian's docker-registry, without TLS, and returns its address.
func serveRegistry(t *testing.T) (address string) {
	t.Helper()
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		testtier.Missing(t, "the release was NOT tested: install docker-registry, as Debian has it")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = listener.Addr().String()
	listener.Close()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "config.yml"), fmt.Sprintf("version: 0.1\nstorage: {filesystem: {rootdirectory: %q}}\nhttp: {addr: %q, secret: %q}\n", dir, address, rand.Text()))
	put(t, filepath.Join(dir, "registries.conf"), fmt.Sprintf("unqualified-search-registries = [\"docker.io\"]\n[[registry]]\nlocation = %q\ninsecure = true\n", address))
	t.Setenv("CONTAINERS_REGISTRIES_CONF", filepath.Join(dir, "registries.conf"))
	cmd := exec.Command(program, "serve", filepath.Join(dir, "config.yml"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return address
		}
	}
	t.Fatal("docker-registry does not listen")
	return ""
}
