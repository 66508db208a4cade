package clusters_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/accelgate/accelgate/e2e/script"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func TestMain(m *testing.M) { script.Main(m) }

// TestPageThorough runs docs/clusters.md on a Slurm of its own.
func TestPageThorough(t *testing.T) {
	testtier.Thorough(t)
	t.Parallel()
	s := startSlurm(t)
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "clusters.md"))
	if err != nil {
		t.Fatal(err)
	}
	script.Page(t, string(page), (*testing.T).TempDir, nil, s.env...)
}
