package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// dryRun is a release in clones of the last commit, without a registry and GitHub.
type dryRun struct {
	dir, source, version, only string
	stdout                     io.Writer
}

// check makes a release in a temporary folder and reports what each step proves. An error names the step that a release
// would fail at. The image is not built: the digest of a binary stands in for its digest.
func check(root, version, only string, stdout io.Writer) error {
	dir, err := os.MkdirTemp("", "release-check")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if only == "" {
		only = runtime.GOOS + "/" + runtime.GOARCH
	}
	r := &dryRun{dir: dir, source: filepath.Join(dir, "source"), version: version, only: only, stdout: stdout}
	if _, err := git(root, "clone", "-q", "--no-tags", ".", r.source); err != nil {
		return err
	}
	for _, step := range []struct {
		proves string
		do     func() error
	}{
		{"version: CHANGELOG.md has its section, and pages, examples and init name its tag", r.prepared},
		{"digests: two builds of " + only + " are equal", r.built},
		{"pins: actions name binaries and the image by digest, workflows name the actions by commit", r.pinned},
		{"attestations: their subjects exist, and the job may sign", r.attested},
		{"@" + majorOf(version) + ": a runner without Go gets this binary", r.used},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.proves, err)
		}
		fmt.Fprintln(stdout, "ok   "+step.proves)
	}
	fmt.Fprintln(stdout, "not here: the images and their registry, which make nightly has, and what GitHub signs")
	return nil
}

func git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "user.name=release", "-c", "user.email=release@accelgate.invalid"}, args...)...)
	cmd.Dir = dir
	var printed, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &log
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, log.String())
	}
	return strings.TrimSpace(printed.String()), nil
}

func (r *dryRun) commit(message string, paths ...string) error {
	_, err := git(r.source, append([]string{"commit", "--quiet", "-m", message}, paths...)...)
	return err
}

func (r *dryRun) prepared() error {
	if _, err := notes(r.source, r.version); err != nil {
		left, err := prepare(r.source, r.version, time.Now().UTC().Format(time.DateOnly))
		if err != nil {
			return err
		}
		fmt.Fprintf(r.stdout, "     the pull request before it is made here by release prepare; edit by hand: %s\n", strings.Join(left, ", "))
		if err := r.commit("prepare", "--all"); err != nil {
			return err
		}
	}
	if _, err := notes(r.source, r.version); err != nil {
		return err
	}
	files, err := userFiles(r.source)
	if err != nil {
		return err
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range reference.FindAllStringSubmatch(string(data), -1) {
			if major := majorOf(r.version); major != "" && m[2] != major {
				return fmt.Errorf("%s has %s, which is not @%s: run release prepare", path, m[0], major)
			}
		}
	}
	return nil
}

func (r *dryRun) dist() string { return filepath.Join(r.dir, "downloads", r.version) }

func (r *dryRun) built() error {
	again := filepath.Join(r.dir, "again")
	if _, err := git(r.dir, "clone", "-q", r.source, again); err != nil {
		return err
	}
	if err := build(r.source, r.version, r.dist(), r.only); err != nil {
		return err
	}
	second := filepath.Join(r.dir, "dist")
	if err := os.Setenv("GOCACHE", filepath.Join(r.dir, "cache")); err != nil { // else the second would be a copy of the first
		return err
	}
	if err := build(again, r.version, second, r.only); err != nil {
		return err
	}
	one, err := os.ReadFile(filepath.Join(r.dist(), "checksums.txt"))
	other, otherErr := os.ReadFile(filepath.Join(second, "checksums.txt"))
	if err := errors.Join(err, otherErr); err != nil {
		return err
	}
	if !bytes.Equal(one, other) {
		return fmt.Errorf("the first build has\n%sand the second\n%s", one, other)
	}
	return nil
}

func (r *dryRun) pinned() error {
	sums := filepath.Join(r.dist(), "checksums.txt")
	data, err := os.ReadFile(sums)
	if err != nil {
		return err
	}
	image := fmt.Sprintf("ghcr.io/accelgate/accelgate@sha256:%x", sha256.Sum256(data))
	if err := pinActions(r.source, r.version, sums, image, r.only); err != nil {
		return err
	}
	if err := r.commit("the actions name the image and the binaries", "action.yml", "native/release.txt"); err != nil {
		return err
	}
	actions, err := git(r.source, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	if err := pinWorkflows(r.source, r.version, actions); err != nil {
		return err
	}
	if err := r.commit("the called workflows name the actions", ".github/workflows"); err != nil {
		return err
	}
	_, err = git(r.source, "tag", r.version)
	return err
}

var (
	subjectPath = regexp.MustCompile(`(?m)^ +subject-path: artifacts/release/dist/(\S+)$`)
	mayAttest   = regexp.MustCompile(`(?s)\n  publish:\n.*\n      id-token: write.*\n      attestations: write`)
)

func (r *dryRun) attested() error {
	data, err := os.ReadFile(filepath.Join(r.source, ".github", "workflows", "release.yml"))
	if err != nil {
		return err
	}
	paths := subjectPath.FindSubmatch(data)
	if paths == nil || !mayAttest.Match(data) {
		return errors.New("the job publish of release.yml attests no binaries, or may not sign")
	}
	found, err := filepath.Glob(filepath.Join(r.dist(), string(paths[1])))
	if err != nil {
		return err
	}
	if chosen, _ := targets(r.only); len(found) < len(chosen) {
		return fmt.Errorf("%s names %d files, want %d or more", paths[1], len(found), len(chosen))
	}
	return nil
}

// used moves the tag of the major version, and gets accelgate as a runner does that names it.
func (r *dryRun) used() error {
	tag := majorOf(r.version)
	if tag == "" {
		tag = r.version // a pre-release moves none
	} else if _, err := git(r.source, "tag", "--force", tag, r.version+"^{commit}"); err != nil {
		return err
	}
	checkout := filepath.Join(r.dir, "runner", "action")
	if _, err := git(r.dir, "clone", "-q", "--branch", tag, r.source, checkout); err != nil {
		return err
	}
	temp := filepath.Join(r.dir, "runner")
	cmd := exec.Command("bash", filepath.Join(checkout, "native", "get.sh"))
	cmd.Env = []string{"PATH=/usr/bin:/bin", "RUNNER_TEMP=" + temp, "DOWNLOADS=file://" + filepath.Join(r.dir, "downloads"),
		"RUNNER_OS=" + map[string]string{"linux": "Linux", "darwin": "macOS"}[runtime.GOOS], "RUNNER_ARCH=" + map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH]}
	out, err := cmd.CombinedOutput()
	if len(out) > 0 { // it builds, or refuses
		return fmt.Errorf("native/get.sh prints %q", out)
	}
	if err != nil {
		return err
	}
	if out, err = exec.Command(filepath.Join(temp, "accelgate.exe"), "version").Output(); err != nil {
		return err
	}
	if !strings.HasPrefix(string(out), "accelgate version "+r.version+" (") {
		return fmt.Errorf("the binary prints %q", out)
	}
	return nil
}
