package testtier

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/quick"

	randv2 "math/rand/v2"
)

// Seed returns where the random inputs of a test start: at the same place in each `make test`, so that it is
// never red by chance, and elsewhere in each `make nightly`. What fails there is kept in the package's testdata/seeds,
// and is where each `make test` starts from then on. ACCELGATE_TEST_SEED repeats one that failed.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := seedOf(t)
	t.Logf("to repeat it: ACCELGATE_TEST_SEED=%d", seed)
	return seed
}

func seedOf(t testing.TB) uint64 {
	t.Helper()
	if given := os.Getenv("ACCELGATE_TEST_SEED"); given != "" {
		return parse(t, "ACCELGATE_TEST_SEED", given)
	}
	path := filepath.Join("testdata", "seeds", strings.ReplaceAll(t.Name(), "/", "_"))
	if os.Getenv("ACCELGATE_TEST_TIER") == "nightly" {
		seed := randv2.Uint64()
		t.Cleanup(func() {
			if t.Failed() {
				keep(t, path, seed)
			}
		})
		return seed
	}
	kept, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 1
	}
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, path, strings.TrimSpace(string(kept)))
}

func parse(t testing.TB, from, text string) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", from, err)
	}
	return seed
}

// keep makes a seed the one that make test starts at.
func keep(t testing.TB, path string, seed uint64) {
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, fmt.Appendln(nil, seed), 0o644)
	}
	if err != nil {
		t.Errorf("the seed is not kept: %v", err)
		return
	}
	t.Logf("kept in %s: commit it, or the case as a row of a test", path)
}

// Quick makes [quick.Check] draw so many inputs from [Seed].
func Quick(t testing.TB, count int) *quick.Config {
	t.Helper()
	return &quick.Config{MaxCount: count, Rand: rand.New(rand.NewSource(int64(Seed(t))))}
}
