//go:build !linux

package worker_test

import "testing"

func containerTree(t *testing.T, _ *testEngine) {
	t.Skip("processes are looked for in /proc")
}
