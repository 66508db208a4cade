package testtier_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestSeed is run by TestSeedIsKept in a process of its own, where it fails.
func TestSeed(t *testing.T) {
	if seed := testtier.Seed(t); os.Getenv("SEED_FAILS") != "" {
		t.Errorf("failed at %d.", seed)
	}
}

// TestSeedIsKept fails a test of make nightly, and finds its seed in the make test after it.
func TestSeedIsKept(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	seedIn := func(tier, fails string) string {
		t.Helper()
		cmd := exec.Command(self, "-test.v", "-test.run", "^TestSeed$")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "ACCELGATE_TEST_SEED=", "ACCELGATE_TEST_TIER="+tier, "SEED_FAILS="+fails)
		said, err := cmd.CombinedOutput()
		if (err != nil) != (fails != "") {
			t.Fatalf("%v: %s", err, said)
		}
		_, rest, _ := strings.Cut(string(said), "ACCELGATE_TEST_SEED=")
		seed, _, _ := strings.Cut(rest, "\n")
		return seed
	}
	if got := seedIn("", ""); got != "1" {
		t.Errorf("make test starts at %s, want 1", got)
	}
	if first := seedIn("nightly", ""); first == seedIn("nightly", "") {
		t.Error("make nightly starts twice at the same seed")
	}
	failed := seedIn("nightly", "1")
	kept, err := os.ReadFile(filepath.Join(dir, "testdata", "seeds", "TestSeed"))
	if err != nil || strings.TrimSpace(string(kept)) != failed {
		t.Errorf("kept %q, want %s: %v", kept, failed, err)
	}
	if got := seedIn("", ""); got != failed {
		t.Errorf("make test starts at %s, want the kept %s", got, failed)
	}
}
