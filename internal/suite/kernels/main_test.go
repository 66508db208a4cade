package kernels

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/kernels/harness/gokernel"
)

// fixtures is a folder for what tests share.
var fixtures string

// TestMain makes this test's binary the worker that suites start: {accelgate}
// kernels worker.
func TestMain(m *testing.M) {
	if strings.HasPrefix(filepath.Base(os.Args[0]), "nvidia-smi") {
		os.Exit(playSMI(os.Args[1:]))
	}
	if len(os.Args) > 2 && os.Args[1] == "kernels" && os.Getenv(rowsFile) != "" {
		serveGPU(os.Stdin, os.Stdout)
		os.Exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == "kernels" && os.Args[2] == "worker" {
		if err := gokernel.Serve(context.Background(), os.Stdin, os.Stdout, time.Now); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	dir, err := os.MkdirTemp("", "accelgate-fixtures-")
	if err != nil {
		panic(err)
	}
	fixtures = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}
