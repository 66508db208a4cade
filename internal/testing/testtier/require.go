// Package testtier is for tests that need what users may not have: tools, and the
// data of real systems. There such a test says what was not done and is skipped;
// in CI, where ACCELGATE_TEST_REQUIRE=1 is set, it fails.
package testtier

import (
	"os"
	"testing"
)

// Data returns the folder of recorded data. What says what was not done without it,
// as in "golden packings were NOT read", and holds what the folder must hold.
func Data(t testing.TB, what, holds string) string {
	t.Helper()
	dir := os.Getenv("ACCELGATE_TEST_DATA")
	if dir == "" {
		Missing(t, what+": set ACCELGATE_TEST_DATA to the folder that holds "+holds)
	}
	return dir
}

// Missing skips a test that lacks something, or fails it where nothing may lack.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("ACCELGATE_TEST_REQUIRE") == "1" {
		t.Fatal(what)
	}
	t.Skip(what)
}
