package main

import (
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkBinary builds the command as the Dockerfile does, and reports how large it is. The image has only certificates and a
// folder beside it.
func BenchmarkBinary(b *testing.B) {
	path := filepath.Join(b.TempDir(), "accelgate")
	for b.Loop() {
		build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "github.com/accelgate/accelgate/cmd/accelgate")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	var packed counter
	w := gzip.NewWriter(&packed)
	size, err := io.Copy(w, file)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(size)/1e6, "file-MB")
	b.ReportMetric(float64(packed)/1e6, "gzip-MB")
}

// counter counts what is written.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
