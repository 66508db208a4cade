package testtier

import (
	"os"
	"testing"
)

// Thorough skips a test that `make test` leaves to `make thorough`. The name of such a test ends in "Thorough". `make
// nightly` may run it, too.
func Thorough(t testing.TB) {
	t.Helper()
	if tier := os.Getenv("ACCELGATE_TEST_TIER"); tier != "thorough" && tier != "nightly" {
		t.Skip("in make thorough")
	}
}

// Nightly skips a test that measures for many minutes. The name of such a test ends in "Nightly".
func Nightly(t testing.TB) {
	t.Helper()
	if os.Getenv("ACCELGATE_TEST_TIER") != "nightly" {
		t.Skip("in make nightly")
	}
}
