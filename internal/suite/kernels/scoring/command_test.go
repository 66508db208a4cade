//go:build unix

package scoring_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/kernels/scoring"
)

// TestCommandTools: each tool is one argument of the child, even if a task's file, which
// solutions can write, holds other words.
func TestCommandTools(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	child := filepath.Join(dir, "child")
	if err := os.WriteFile(child, []byte("#!/bin/sh\nprintf '%s\\0' \"$@\" > '"+dir+"/args'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := scoring.NewCommand(child, []string{"--mode=fib"}, os.Environ(), time.Minute)
	if err := c.Score(t.Context(), scoring.Job{Data: "data", Out: "out", Lane: "0", Tools: []string{"ncu", "x --replay\n--local=/"}}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "args"))
	want := []string{"kernels", "run", "--local", "data", "--out", "out", "--json", "--mode=fib", "--devices", "0", "--profile=ncu", "--profile=x --replay\n--local=/", ""}
	if got := strings.Split(string(text), "\x00"); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}
