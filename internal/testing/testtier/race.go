//go:build race

package testtier

// Race reports whether the race detector is in this binary.
const Race = true
