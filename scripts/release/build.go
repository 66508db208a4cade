package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

type target struct{ os, arch string }

// all are the systems that a release has a binary for.
var all = []target{
	{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// targets returns those that a list names, or all where it is empty.
func targets(list string) (chosen []target, err error) {
	if list == "" {
		return all, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(all, func(t target) bool { return t.os+"/"+t.arch == name })
		if i < 0 {
			return nil, fmt.Errorf("no target %q: give darwin, linux or windows, with /amd64 or /arm64", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// build writes the binaries of the targets that only names, else of all, their SBOMs and checksums.txt.
func build(root, version, out, only string) error {
	chosen, err := targets(only)
	if err != nil {
		return err
	}
	out, err = filepath.Abs(out)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var sums strings.Builder
	for _, t := range chosen {
		name := "accelgate_" + t.os + "_" + t.arch
		if t.os == "windows" {
			name += ".exe"
		}
		if err := compile(root, version, t.os, t.arch, filepath.Join(out, name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		data, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return err
		}
		digest := fmt.Sprintf("%x", sha256.Sum256(data))
		fmt.Fprintf(&sums, "%s  %s\n", digest, name)
		if err := writeSBOM(filepath.Join(out, name), version, digest); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(out, "checksums.txt"), []byte(sums.String()), 0o644)
}

// compile builds one binary. Nothing of the builder's environment may change its bytes.
func compile(root, version, system, arch, to string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -X github.com/accelgate/accelgate/internal/version.released="+version, "-o", to, "./cmd/accelgate")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "GOFLAGS=-mod=readonly", "GOWORK=off", "GOAMD64=v1", "GOARM64=v8.0",
		"GOEXPERIMENT=", "GOFIPS140=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, text)
	}
	return nil
}
