package testtier

import (
	"math/rand"
	"os"
	"strconv"
	"testing"
	"testing/quick"

	randv2 "math/rand/v2"
)

// Seed returns where the random inputs of a test start: at the same place in each `make test`, so that it is
// never red by chance, and elsewhere in each `make nightly`. ACCELGATE_TEST_SEED repeats one that failed.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(1)
	if os.Getenv("ACCELGATE_TEST_TIER") == "nightly" {
		seed = randv2.Uint64()
	}
	if given := os.Getenv("ACCELGATE_TEST_SEED"); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatalf("ACCELGATE_TEST_SEED: %v", err)
		}
	}
	t.Logf("to repeat it: ACCELGATE_TEST_SEED=%d", seed)
	return seed
}

// Quick makes [quick.Check] draw so many inputs from [Seed].
func Quick(t testing.TB, count int) *quick.Config {
	t.Helper()
	return &quick.Config{MaxCount: count, Rand: rand.New(rand.NewSource(int64(Seed(t))))}
}
