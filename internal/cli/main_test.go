package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/cli"
)

// TestMain makes the test binary double as the children of benchmarks.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv("ACCELGATE_BENCH_CHILD") != "" && len(os.Args) == 1:
		benchChild()
	case filepath.Base(os.Args[0]) == "accelgate":
		c := cli.Command{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now}
		os.Exit(c.Main(context.Background(), os.Args[1:]))
	default:
		m.Run()
	}
}
