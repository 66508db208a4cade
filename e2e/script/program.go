package script

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Main runs the tests of a package with accelgate and fakegithub, built once and without the race detector unless
// ACCELGATE_TEST_BIN names a folder that holds them, first on PATH. It does not return.
func Main(m *testing.M) {
	bin := os.Getenv("ACCELGATE_TEST_BIN")
	if bin == "" {
		dir, err := os.MkdirTemp("", "accelgate-bin-")
		if err != nil {
			fatal(err)
		}
		bin = dir
		if err := build(bin); err != nil {
			fatal(err)
		}
		defer os.RemoveAll(dir)
	}
	_ = os.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	m.Run()
}

// build writes accelgate and fakegithub. Coverage of the tests is coverage of both.
func build(bin string) error {
	const module = "github.com/accelgate/accelgate/"
	for program, pkg := range map[string]string{"accelgate": "e2e/program", "fakegithub": "cmd/fakegithub"} {
		args := []string{"build", "-o", filepath.Join(bin, name(program))}
		if testing.CoverMode() != "" {
			args = append(args, "-cover", "-coverpkg="+module+"...")
		}
		if out, err := exec.Command("go", append(args, module+pkg)...).CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	return nil
}

func name(program string) string {
	if runtime.GOOS == "windows" {
		return program + ".exe"
	}
	return program
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
